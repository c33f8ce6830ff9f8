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
from compilefix.scan.hot import Hot
from compilefix.scan.judge import Ask, Judge, Judgement
from compilefix.scan.names import Names
from compilefix.scan.releases import within
from compilefix.scan.targets import leaf
from compilefix.scan.values import UNKNOWN, Dotted, Function, Instance, Mark

_CHEAP = re.compile(
    r"__version__|\btorch\.version\b|metadata|torch_version|"
    + "|".join(sorted(library.GATES))
    + r"|(?i:torch_?\w*_\d_\d)|WITH_PT|torch[<>=~!]=?\s*\d"
    + r"|try:[^\n]*\n(?:[^\n]*\n){0,3}?\s*(?:from torch|import torch|\w+ = torch\.|torch\.)"
)
_PROBE = re.compile(r"(?:has|get)attr\(\s*[\w.]+,\s*[\"'](\w+)")
_REQUIREMENT = re.compile(r"\s*torch\s*(\[[^]]*\])?\s*(>=|==|~=|<=|<|>|!=)")


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
    holder: ast.If | ast.While | ast.Assert | ast.IfExp | None
    """The statement or ternary in whose test the gate stands, reached through ``not``, ``and`` and ``or`` only."""

    above: tuple[tuple[ast.AST, ast.AST], ...]
    """Parents and children from the gate up to the holder."""

    outside: bool | None = None
    """The answer that the code around the gate has already decided; None where it has not."""


def worth_parsing(text: str) -> bool:
    """Tell cheaply whether `text` may hold a gate."""
    if "torch" not in text:
        return False
    probed = not features.leaves().isdisjoint(_PROBE.findall(text)) if "attr(" in text else False
    return probed or _CHEAP.search(text) is not None


def find(names: Names, judge: Judge) -> list[Gate]:
    """Return all gates of the file, in order."""
    finder = _Finder(names, judge)
    found = [*finder.expressions(), *finder.tries(), *finder.matches(), *finder.requirements()]
    return sorted(found, key=lambda g: (getattr(g.node, "lineno", 0), getattr(g.node, "col_offset", 0)))


class _Finder:
    def __init__(self, names: Names, judge: Judge) -> None:
        self.names, self.judge = names, judge
        self.nodes = names.nodes
        hot = Hot(names)
        self.hot_nodes, self.probes = hot.nodes, hot.tries
        self.touched = hot.nodes | hot.statements

    def expressions(self) -> Iterator[Gate]:
        """Yield gates that are expressions."""
        for node in self.nodes:
            if node not in self.touched:
                continue
            if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
                yield from self._visit(node.test, test=True)
            if isinstance(node, ast.stmt):
                for child in ast.iter_child_nodes(node):
                    tested = isinstance(node, ast.If | ast.While | ast.Assert) and child is node.test
                    if isinstance(child, ast.expr | ast.keyword | ast.withitem) and not tested:
                        value = child if isinstance(child, ast.expr) else getattr(child, "value", None)
                        decorator = child in getattr(node, "decorator_list", ())
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
                found = self._gate(node)
                if found is not None and self._existence(node, found.judgement):
                    return
                if found:
                    yield found
                    return
            case ast.Call() if (statement and leaf(node) in library.GATES) or not statement:
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
                return leaf(node) == "hasattr" and flags
        return False

    def _existence(self, node: ast.Compare, found: Judgement) -> bool:
        """Tell whether this is a comparison with None of something that always is, such as a parsed version."""
        if not isinstance(node.ops[0], ast.Is | ast.IsNot) or not isinstance(node.comparators[0], ast.Constant):
            return False
        feature = any(e.what == "feature" for e in found.events)
        return found.verdict != "build" and not feature and not self._from_try(node.left)

    def _from_try(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name):
            return False
        found = self.names.lookup(node.id, self.names.scope(node))
        return found is not None and any(
            isinstance(p, ast.Try) for b in found[1] for p, _ in self.names.ancestors(b.node)
        )

    def _call(self, node: ast.Call | ast.Name, *, decorator: bool) -> Gate | None:
        name = leaf(node) if isinstance(node, ast.Call) else ""
        if name in library.MARKS:
            return None
        if name in ("str", "tuple", "list", "int", "float", "bool", "map", "parse", "Version", "getattr", "print"):
            return None
        if name == "hasattr":
            return self._gate(node)
        judgement = self.judge.judge(lambda run: _boolean(run, run.value(node), decorator), node)
        if judgement and judgement.verdict == "raises" and name not in library.GATES:
            return None  # likelier something that cannot be followed than a gate
        mark = decorator or (isinstance(node, ast.Call) and isinstance(node.func, ast.Call))
        return self._made(node, node, judgement, "mark" if mark else None) if judgement else None

    def _gate(self, node: ast.expr) -> Gate | None:
        name = isinstance(node, ast.Name)
        judgement = self.judge.judge(lambda run: run.value(node) if not name else _flag(run.value(node)), node)
        return self._made(node, node, judgement) if judgement else None

    def _made(self, node: ast.AST, end: ast.AST, judgement: Judgement, kind: str | None = None) -> Gate:
        child, negated, above = node, False, []
        parent = self.names.parents.get(child)
        direct = True
        while isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
            above.append((parent, child))
            direct = direct and isinstance(parent, ast.UnaryOp)
            child, negated = parent, negated is not isinstance(parent, ast.UnaryOp)
            parent = self.names.parents.get(child)
        tests = isinstance(parent, ast.If | ast.While | ast.Assert | ast.IfExp) and parent.test is child
        holder: Any = parent if tests else None
        return Gate(
            node=node,
            end=end,
            judgement=judgement,
            decides=holder if direct else None,
            negated=negated if direct else False,
            kind=kind or _kind(node, self.names.parents.get(node)),
            holder=holder,
            above=tuple(above),
            outside=self._outside(node, judgement) if judgement.verdict == "live" and judgement.rule is None else None,
        )

    def _outside(self, node: ast.AST, judgement: Judgement) -> bool | None:
        """Return what a live gate always answers where it stands, given the gates around it."""
        if not any(isinstance(p, ast.If) and p.test in self.hot_nodes for p, _ in self.names.ancestors(node)):
            return None
        answers = set()
        for build, answer in judgement.truth:
            if within(build, self.judge.minimum, self.judge.maximum):
                run = self.judge.evaluator(build)
                if run.runs(node, None) is not False:
                    answers.add(answer)
        return answers.pop() if len(answers) == 1 and answers <= {True, False} else None

    def tries(self) -> Iterator[Gate]:
        """Yield probes by ``try: from torch.x import y``."""
        for node in self.probes:
            flag = next((s for s in node.body[1:] if isinstance(s, ast.Assign)), None)
            place = flag or next((s for s in node.handlers[0].body if not isinstance(s, ast.Pass)), None)
            judgement = self.judge.judge(_answer(node, flag is not None), place or node)
            if judgement is not None and place is not None:
                yield self._made(place, place, judgement, "try-import")

    def matches(self) -> Iterator[Gate]:
        """Yield the cases of a ``match`` on the version."""
        for node in self.names.of(ast.Match):
            if node.subject in self.hot_nodes:
                for case in node.cases:
                    if not isinstance(case.pattern, ast.MatchAs) or case.pattern.pattern is not None:
                        judgement = self.judge.judge(_case(node, case), case.pattern)
                        if judgement:
                            yield self._made(case.pattern, case.guard or case.pattern, judgement, "match")

    def requirements(self) -> Iterator[Gate]:
        """Yield torch's requirements in a call of ``setup``."""
        for node in self.names.of(ast.Call):
            if leaf(node) == "setup":
                for text in ast.walk(node):
                    if (
                        isinstance(text, ast.Constant)
                        and isinstance(text.value, str)
                        and _REQUIREMENT.match(text.value)
                    ):
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


def _kind(node: ast.AST, parent: ast.AST | None) -> str:
    if isinstance(node, ast.Call):
        return "probe" if leaf(node) == "hasattr" else "helper"
    if isinstance(parent, ast.IfExp):
        return "ternary"
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        return "flag"
    return "assert" if isinstance(parent, ast.Assert) else "compare"
