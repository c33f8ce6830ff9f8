"""Take out what a scan found dead and put drop-ins where ops are affected; formatting and comments stay."""

from __future__ import annotations

import ast
import difflib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import libcst as cst
    from libcst.codemod import CodemodContext
    from libcst.codemod.visitors import AddImportsVisitor
    from libcst.metadata import MetadataWrapper, PositionProvider
except ImportError:
    from compilefix.errors import UsageError

    raise UsageError("changing sources needs libcst: pip install 'compilefix[fix]'") from None

from compilefix.scan.finding import Finding

Position = tuple[int, int, int, int]
"""First line, first column, last line, last column; lines from 1, columns from 0."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after."""

    path: Path
    before: bytes
    after: bytes
    encoding: str
    count: int
    """Findings that are dealt with."""

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (text.decode(self.encoding).splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self) -> None:
        """Replace the file, whole or not at all, where it is still what was scanned."""
        if self.path.read_bytes() != self.before:
            raise OSError(f"{self.path} has changed since it was scanned")
        target = self.path.resolve()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.after)
            Path(name).chmod(target.stat().st_mode & 0o7777)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def changes(findings: Iterable[Finding]) -> tuple[list[Change], list[str]]:
    """Return what to change, by file, and a line for each file that cannot be changed after all."""
    by_file: dict[str, list[Finding]] = {}
    for found in findings:
        if found.edit is not None:
            by_file.setdefault(found.file, []).append(found)
    done, failed = [], []
    for file, wanted in by_file.items():
        try:
            change = _change(Path(file), wanted)
        except (cst.ParserSyntaxError, OSError, SyntaxError, UnicodeDecodeError, RecursionError) as error:
            failed.append(f"{file}: not changed: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        if change is not None:
            done.append(change)
    return done, failed


def _change(path: Path, findings: Sequence[Finding]) -> Change | None:
    before = path.read_bytes()
    wrapper = MetadataWrapper(cst.parse_module(before))
    context = CodemodContext(wrapper=wrapper)
    taken = _bound(before)
    decided, swapped = {}, {}
    for found in findings:
        where = (found.line, found.column, found.end_line, found.end_column)
        if found.kind == "gate":
            decided[where] = found.verdict == "dead-true"
        elif (name := (found.edit or "").rpartition(".")[2]) not in taken:
            swapped[where] = name
    editor = _Editor(decided, swapped)
    after = wrapper.visit(editor)
    for name in sorted(editor.imported):
        AddImportsVisitor.add_needed_import(context, "compilefix.ops", name)
    if editor.imported:
        after = AddImportsVisitor(context).transform_module(after)
    if after.bytes == before:
        return None
    ast.parse(after.bytes)  # what cannot be read back is not written
    return Change(path, before, after.bytes, after.encoding, editor.count)


def _bound(source: bytes) -> set[str]:
    """Return the names that a file binds anywhere, those of drop-ins apart."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ImportFrom(module="compilefix.ops", names=names):
                found |= {a.asname for a in names if a.asname}
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {a.asname or a.name.partition(".")[0] for a in names}
    return found


class _Editor(cst.CSTTransformer):
    """Decides gates by their positions and simplifies what they stand in."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, decided: dict[Position, bool], swapped: dict[Position, str]) -> None:
        super().__init__()
        self.decided, self.swapped = decided, swapped
        self.imported: set[str] = set()
        self.count = 0
        self._known: dict[int, tuple[cst.CSTNode, bool]] = {}
        self._elifs: set[int] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note which ``if`` is an ``elif``."""
        if isinstance(node, cst.If) and isinstance(node.orelse, cst.If):
            self._elifs.add(id(node.orelse))
        return super().on_visit(node)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Replace a gate by its answer, and what that answer settles."""
        updated = super().on_leave(original_node, updated_node)
        if isinstance(original_node, cst.BaseExpression):
            where = self._position(original_node)
            if where in self.decided:
                self.count += 1
                return self._answer(self.decided.pop(where))
            if where in self.swapped and isinstance(updated, cst.Call):
                name = self.swapped.pop(where)
                self.imported.add(name)
                self.count += 1
                return updated.with_changes(func=cst.Name(name))
        return updated

    def _position(self, node: cst.CSTNode) -> Position:
        found = self.get_metadata(PositionProvider, node)
        return found.start.line, found.start.column, found.end.line, found.end.column

    def _answer(self, value: bool) -> cst.Name:
        node = cst.Name(str(value))
        self._known[id(node)] = node, value
        return node

    def _truth(self, node: cst.CSTNode) -> bool | None:
        found = self._known.get(id(node))
        return found[1] if found is not None else None

    def leave_UnaryOperation(  # noqa: N802
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        """``not`` of an answer is an answer."""
        truth = self._truth(updated_node.expression)
        return (
            self._answer(not truth)
            if isinstance(updated_node.operator, cst.Not) and truth is not None
            else updated_node
        )

    def leave_BooleanOperation(  # noqa: N802
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        """An answer settles ``and`` and ``or``, or drops out of them."""
        conjunction = isinstance(updated_node.operator, cst.And)
        for one, other in ((updated_node.left, updated_node.right), (updated_node.right, updated_node.left)):
            truth = self._truth(one)
            if truth is not None:
                if truth is not conjunction or self._truth(other) is not None:
                    return self._answer(truth) if truth is not conjunction else other
                return _with_parentheses(other, updated_node)
        return updated_node

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:  # noqa: N802
        """Keep the value that is chosen."""
        truth = self._truth(updated_node.test)
        if truth is None:
            return updated_node
        return _with_parentheses(updated_node.body if truth else updated_node.orelse, updated_node)

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:  # noqa: N802
        """Keep the branch that runs."""
        truth = self._truth(updated_node.test)
        if truth is None:
            return updated_node
        chain = id(original_node) in self._elifs
        if truth:
            return cst.Else(updated_node.body) if chain else _spliced(updated_node.body, updated_node)
        rest = updated_node.orelse
        if rest is None:
            return cst.RemoveFromParent()
        if isinstance(rest, cst.If):
            return rest.with_changes(leading_lines=[*updated_node.leading_lines, *rest.leading_lines])
        return rest if chain else _spliced(rest.body, updated_node)

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> Any:  # noqa: N802
        """Remove a loop that never runs."""
        return cst.RemoveFromParent() if self._truth(updated_node.test) is False else updated_node

    def leave_Assert(self, original_node: cst.Assert, updated_node: cst.Assert) -> Any:  # noqa: N802
        """Remove an assertion that always holds."""
        return cst.RemoveFromParent() if self._truth(updated_node.test) is True else updated_node

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> Any:
        """Remove a line of which nothing is left."""
        return updated_node if updated_node.body else cst.RemoveFromParent()

    def leave_IndentedBlock(  # noqa: N802
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        """Leave no block empty."""
        if updated_node.body:
            return updated_node
        return updated_node.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])


def _with_parentheses(node: cst.BaseExpression, outer: Any) -> cst.BaseExpression:
    return node.with_changes(lpar=[*outer.lpar, *node.lpar], rpar=[*node.rpar, *outer.rpar])


def _spliced(block: cst.BaseSuite, outer: cst.If) -> Any:
    """Return the statements of a branch in the place of the whole statement."""
    if isinstance(block, cst.IndentedBlock):
        statements: list[Any] = list(block.body)
    else:
        statements = [cst.SimpleStatementLine(list(block.body))]  # type: ignore[arg-type]
    if not statements:
        return cst.RemoveFromParent()
    first = statements[0]
    statements[0] = first.with_changes(leading_lines=[*outer.leading_lines, *first.leading_lines])
    return cst.FlattenSentinel(statements)
