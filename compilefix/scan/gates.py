"""Find the version gates of one file, whatever their shape, and say what each comes to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compilefix.scan import features, library
from compilefix.scan.evaluate import Evaluator
from compilefix.scan.execute import matches
from compilefix.scan.judge import Ask, Judge, Judgement
from compilefix.scan.names import FUNCTIONS, Names
from compilefix.scan.values import UNKNOWN, Dotted, Function, Instance, Mark

_CHEAP = re.compile(
    r"__version__|\btorch\.version\b|metadata|torch_version|"
    + "|".join(sorted(library.GATES))
    + r"|(?i:torch_?\w*_\d_\d)|WITH_PT|hasattr\(|getattr\(|ImportError|AttributeError|torch[<>=~!]=?\s*\d"
)
_REQUIREMENT = re.compile(r"\s*torch\s*(\[[^]]*\])?\s*(>=|==|~=|<=|<|>|!=)")
_ASKS = ("importlib.metadata.version", "importlib_metadata.version", "pkg_resources.get_distribution")
"""Functions that tell the version of a distribution."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: where it stands, what it decides, and what it comes to."""

    node: ast.AST
    """The expression; for a probe by ``try``, the statement that records the answer."""

    end: ast.AST
    """The last node of the gate's text: a guard behind a pattern."""

    judgement: Judgement
    decides: ast.stmt | ast.IfExp | None
    """The statement or ternary whose test is this gate, and nothing else; None for other gates."""

    negated: bool
    """``not`` stands between the gate and the test."""

    kind: str


def worth_parsing(text: str) -> bool:
    """Tell cheaply whether `text` may hold a gate."""
    return "torch" in text and _CHEAP.search(text) is not None


def find(names: Names, judge: Judge) -> list[Gate]:
    """Return all gates of the file, in order."""
    finder = _Finder(names, judge)
    found = [*finder.expressions(), *finder.tries(), *finder.matches(), *finder.requirements()]
    return sorted(found, key=lambda g: (getattr(g.node, "lineno", 0), getattr(g.node, "col_offset", 0)))


class _Finder:
    def __init__(self, names: Names, judge: Judge) -> None:
        self.names, self.judge = names, judge
        self.nodes = list(ast.walk(names.tree))
        self.hot = self._hot_names()
        self.hot_nodes = self._hot_nodes()

    def _hot_names(self) -> set[str]:
        """Return the names by which torch's version, or an answer about it, can be reached."""
        hot = {n for n in library.GATES}
        values: list[tuple[set[str], ast.AST]] = []
        for scope in self.names.scopes.values():
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    leaf = binding.dotted.rpartition(".")[2]
                    version = leaf == "__version__" and binding.dotted.startswith("torch")
                    version = version or binding.dotted in _ASKS
                    if binding.how == "import" and (version or leaf in library.GATES or library.coded(leaf)):
                        hot.add(name)
                    elif binding.how == "value" and binding.value is not None:
                        values.append(({name}, binding.value))
                    elif binding.how in ("function", "class"):
                        values.append(({name}, binding.node))
        for node in self.nodes:
            if isinstance(node, ast.Try):
                targets = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                imported = {a.asname or a.name for s in node.body if isinstance(s, ast.ImportFrom) for a in s.names}
                if self._probes(node):
                    hot |= targets | imported
        uses = [(bound, *_mentions(value)) for bound, value in values]
        for _ in range(6):
            size = len(hot)
            for bound, mentioned, direct in uses:
                if direct or mentioned & hot:
                    hot |= bound
            if len(hot) == size:
                break
        return hot

    def _hot_nodes(self) -> set[ast.AST]:
        found: set[ast.AST] = set()
        for node in self.nodes:
            if _source(node) or (isinstance(node, ast.Name) and node.id in self.hot and isinstance(node.ctx, ast.Load)):
                found.add(node)
                for parent, _ in self.names.ancestors(node):
                    if parent in found or isinstance(parent, ast.stmt):
                        break
                    found.add(parent)
        return found

    def expressions(self) -> Iterator[Gate]:
        """Yield gates that are expressions."""
        for node in self.nodes:
            if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
                yield from self._visit(node.test, test=True)
            if isinstance(node, ast.stmt):
                for child in ast.iter_child_nodes(node):
                    tested = isinstance(node, ast.If | ast.While | ast.Assert) and child is node.test
                    if isinstance(child, ast.expr | ast.keyword | ast.withitem) and not tested:
                        value = child if isinstance(child, ast.expr) else getattr(child, "value", None)
                        decorator = isinstance(node, (*FUNCTIONS, ast.ClassDef)) and child in node.decorator_list
                        if isinstance(value, ast.expr):
                            yield from self._visit(value, statement=isinstance(node, ast.Expr), decorator=decorator)

    def _visit(
        self, node: ast.expr, *, test: bool = False, statement: bool = False, decorator: bool = False
    ) -> Iterator[Gate]:
        """Yield the widest gates in an expression; `test`: its truth decides something."""
        if node not in self.hot_nodes:
            return
        match node:
            case ast.BoolOp():
                whole = all(self._plain(v) for v in node.values)
                found = self._gate(node) if whole else None
                if found:
                    yield found
                    return
                for value in node.values:
                    yield from self._visit(value, test=True)
                return
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                whole = not test and self._plain(inner, flags=True)
                found = self._gate(node) if whole else None
                if found:
                    yield found
                else:
                    yield from self._visit(inner, test=True)
                return
            case ast.Compare():
                found = self._gate(node) if not self._existence(node) else None
                if found:
                    yield found
                    return
            case ast.Call() if (statement and _leaf(node) in library.GATES) or not statement:
                found = self._call(node, decorator=decorator)
                if found:
                    yield found
                    return
            case ast.Name() if decorator:
                found = self._call(node, decorator=True)
                if found:
                    yield found
                return
            case ast.Name() if test:
                found = self._gate(node)
                if found and (found.judgement.true_for != ((None, None),)):
                    yield found
                return
            case ast.Attribute() if node.attr in ("is_prerelease", "is_devrelease", "is_postrelease"):
                found = self._gate(node)
                if found:
                    yield found
                    return
            case ast.IfExp():
                if node.test in self.hot_nodes:
                    pass  # visited as a statement of its own
                yield from self._visit(node.body)
                yield from self._visit(node.orelse)
                return
            case ast.Lambda():
                yield from self._visit(node.body)
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._visit(child)
            elif isinstance(child, ast.keyword):
                yield from self._visit(child.value)
            elif isinstance(child, ast.comprehension):
                for condition in child.ifs:
                    yield from self._visit(condition, test=True)

    def _plain(self, node: ast.expr, *, flags: bool = False) -> bool:
        """Tell whether `node` is a comparison of the version, which a neighbour may join to a range."""
        if node not in self.hot_nodes:
            return False
        match node:
            case ast.Compare():
                return True
            case ast.BoolOp():
                return all(self._plain(v) for v in node.values)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._plain(inner, flags=flags)
            case ast.Name():
                return flags
            case ast.Call():
                return _leaf(node) == "hasattr" and flags
        return False

    def _existence(self, node: ast.Compare) -> bool:
        """Tell whether this is a comparison with None of something that always is, such as a parsed version."""
        if not isinstance(node.ops[0], ast.Is | ast.IsNot) or not isinstance(node.comparators[0], ast.Constant):
            return False
        found = self.judge.judge(lambda run: run.value(node), node)
        return found is None or (found.verdict != "build" and not any(e.what == "feature" for e in found.events) and (
            not self._from_try(node.left)
        ))

    def _from_try(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name):
            return False
        found = self.names.lookup(node.id, self.names.scope(node))
        return found is not None and any(isinstance(p, ast.Try) for b in found[1] for p, _ in self.names.ancestors(b.node))

    def _call(self, node: ast.Call | ast.Name, *, decorator: bool) -> Gate | None:
        leaf = _leaf(node) if isinstance(node, ast.Call) else ""
        if leaf in library.MARKS:
            return None
        if leaf in ("str", "tuple", "list", "int", "float", "bool", "map", "parse", "Version", "getattr", "print"):
            return None
        if leaf == "hasattr":
            return self._gate(node)
        judgement = self.judge.judge(lambda run: _boolean(run, run.value(node), decorator), node)
        return self._made(node, node, judgement) if judgement else None

    def _gate(self, node: ast.expr) -> Gate | None:
        name = isinstance(node, ast.Name)
        judgement = self.judge.judge(lambda run: run.value(node) if not name else _flag(run.value(node)), node)
        return self._made(node, node, judgement) if judgement else None

    def _made(self, node: ast.AST, end: ast.AST, judgement: Judgement, kind: str | None = None) -> Gate:
        child, negated = node, False
        parent = self.names.parents.get(child)
        while isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            child, negated = parent, not negated
            parent = self.names.parents.get(child)
        tests = isinstance(parent, ast.If | ast.While | ast.Assert | ast.IfExp) and parent.test is child
        return Gate(node, end, judgement, parent if tests else None, negated, kind or _kind(node, parent))  # type: ignore[arg-type]

    def _probes(self, node: ast.Try) -> bool:
        """Tell whether the body of a ``try`` asks for something that torch has in some releases only."""
        names = {n.id for h in node.handlers if h.type for n in ast.walk(h.type) if isinstance(n, ast.Name)}
        if not names & {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"} and node.handlers[:1]:
            return node.handlers[0].type is None
        for statement in node.body[:3]:
            if isinstance(statement, ast.ImportFrom) and not statement.level and (statement.module or "").startswith("torch."):
                if any(features.known(f"{statement.module}.{a.name}") or _known(statement.module or "") for a in statement.names):
                    return True
            elif isinstance(statement, ast.ImportFrom) and statement.module == "torch":
                if any(features.known(f"torch.{a.name}") for a in statement.names):
                    return True
            elif isinstance(statement, ast.Import) and any(_known(a.name) for a in statement.names):
                return True
            elif isinstance(statement, ast.Assign | ast.Expr) and isinstance(statement.value, ast.Attribute):
                if (path := _path(statement.value)) and _known(path):
                    return True
        return False

    def tries(self) -> Iterator[Gate]:
        """Yield probes by ``try: from torch.x import y``."""
        for node in self.nodes:
            if isinstance(node, ast.Try) and node.handlers and self._probes(node):
                flag = next((s for s in node.body[1:] if isinstance(s, ast.Assign)), None)
                place = flag or next((s for s in node.handlers[0].body if not isinstance(s, ast.Pass)), None)
                works = flag is not None
                judgement = self.judge.judge(_answer(node, works), place or node)
                if judgement is not None and place is not None:
                    yield self._made(place, place, judgement, "try-import")

    def matches(self) -> Iterator[Gate]:
        """Yield the cases of a ``match`` on the version."""
        for node in self.nodes:
            if isinstance(node, ast.Match) and node.subject in self.hot_nodes:
                for case in node.cases:
                    if not isinstance(case.pattern, ast.MatchAs) or case.pattern.pattern is not None:
                        judgement = self.judge.judge(_case(node, case), case.pattern)
                        if judgement:
                            yield self._made(case.pattern, case.guard or case.pattern, judgement, "match")

    def requirements(self) -> Iterator[Gate]:
        """Yield torch's requirements in a call of ``setup``."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and _leaf(node) == "setup":
                for text in ast.walk(node):
                    if isinstance(text, ast.Constant) and isinstance(text.value, str) and _REQUIREMENT.match(text.value):
                        judgement = self.judge.judge(_required(text.value), text)
                        if judgement:
                            yield self._made(text, text, judgement, "requirement")


def _answer(node: ast.Try, works: bool) -> Ask:
    def ask(run: Evaluator) -> Any:
        failed = run.fails(node)
        return UNKNOWN if failed is UNKNOWN else failed is not works

    return ask


def _case(node: ast.Match, case: ast.match_case) -> Ask:
    return lambda run: matches(run, node.subject, case)


def _required(text: str) -> Ask:
    return lambda run: run.call(Dotted("require_version"), (text,), {})


def _boolean(run: Evaluator, value: Any, decorator: bool) -> Any:
    """Return `value` where it is an answer; others are values on their way to one."""
    if decorator and isinstance(value, Instance | Function):
        value = run.call(value, (UNKNOWN,), {})
    return value if isinstance(value, bool | Mark) else UNKNOWN


def _flag(value: Any) -> Any:
    """Return `value` where a name is a flag: an answer, or something that is absent in some releases."""
    return value if isinstance(value, bool) or value is None else UNKNOWN


def _leaf(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _path(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _known(path: str) -> bool:
    """Tell whether the name, or a module on the way to it, came or went at a known release."""
    parts = path.split(".")
    return parts[0] == "torch" and any(features.known(".".join(parts[:n])) for n in range(2, len(parts) + 1))


def _source(node: ast.AST) -> bool:
    """Tell whether `node` itself is torch's version or a probe of torch."""
    match node:
        case ast.Attribute(attr="__version__"):
            return True
        case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[_, *_]):
            return True
        case ast.Call(args=[ast.Constant(value="torch"), *_]):
            return _leaf(node) in ("version", "get_distribution", *library.GATES)
    return False


def _mentions(node: ast.AST) -> tuple[set[str], bool]:
    names, direct = set(), False
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            names.add(inner.id)
        direct = direct or _source(inner)
    return names, direct


def _kind(node: ast.AST, parent: ast.AST | None) -> str:
    if isinstance(node, ast.Call):
        return "probe" if _leaf(node) == "hasattr" else "helper"
    if isinstance(parent, ast.IfExp):
        return "ternary"
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        return "flag"
    return "assert" if isinstance(parent, ast.Assert) else "compare"
