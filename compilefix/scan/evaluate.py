"""
Evaluate expressions of a scanned file for one torch build, without running the file.

Only values that follow from the build and from literals are computed; all else is `UNKNOWN`. Names are looked up on
demand: what binds a name is found backwards from its use, and branches are decided by the same evaluation.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compilefix.scan import features, library
from compilefix.scan.calls import Calls
from compilefix.scan.compare import Event, compare
from compilefix.scan.literals import Literals
from compilefix.scan.names import Binding, Names, place
from compilefix.scan.releases import Build
from compilefix.scan.values import UNKNOWN, Dotted, Function, Instance, Loose, Mark, Raised, TorchText

STEPS = 4_000
DEPTH = 40
_READABLE: tuple[type, ...] = (str, tuple, list, dict, set, frozenset, int, Version, SpecifierSet, re.Match, re.Pattern)
_UNSAFE = frozenset({"ljust", "rjust", "center", "zfill", "expandtabs", "format", "format_map", "translate"})


class Exhausted(Exception):  # noqa: N818  (a signal)
    """The evaluation takes too long."""


class Evaluator(Literals, Calls):
    """Evaluates expressions of one file for one build."""

    def __init__(self, names: Names, build: Build) -> None:
        self.names = names
        self.build = build
        self.events: set[Event] = set()
        self.steps = 0
        self.depth = 0
        self._cache: dict[object, tuple[Any, frozenset[Event]]] = {}
        self._active: set[object] = set()

    def value(self, node: ast.expr) -> Any:
        """Return the value of `node` where it stands; raise `Raised` where the program would raise."""
        self.steps = self.depth = 0
        try:
            return self.eval(node, None)
        except (Exhausted, RecursionError):
            return UNKNOWN

    def eval(self, node: ast.expr, local: dict[str, Any] | None) -> Any:
        """Evaluate `node` with the names of a running function in `local`, or where it stands in the file."""
        self.steps += 1
        if self.steps > STEPS:
            raise Exhausted
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        return method(node, local) if method is not None else UNKNOWN

    def _constant(self, node: ast.Constant, local: Any) -> Any:
        return node.value

    def _name(self, node: ast.Name, local: dict[str, Any] | None) -> Any:
        if local is not None and node.id in local:
            return local[node.id]
        return self.lookup(node.id, node)

    def lookup(self, name: str, use: ast.AST) -> Any:
        """Return the value that `name` has at `use`."""
        scope = self.names.scope(use)
        found = self.names.lookup(name, scope)
        if found is None:
            if name == "torch" or name in library.GATES or f"builtins.{name}" in library.PLAIN:
                return Dotted(name)
            return (
                Dotted(name)
                if name in library.PLAIN or name in ("hasattr", "getattr", "map", "isinstance")
                else UNKNOWN
            )
        holder, bindings = found
        if holder is self.names.module and name in self.names.reassigned:
            if name in self.names.outer(scope):
                return UNKNOWN
            self.events.add(Event("reassigned"))
        if holder is scope:
            bindings = [b for b in bindings if b.place <= place(use) and not self._exclusive(b.node, use)]
        return self._reach(bindings, use if holder is scope else None)

    def _reach(self, bindings: list[Binding], use: ast.AST | None) -> Any:
        for binding in reversed(bindings):
            certain = True if binding.how == "parameter" else self.runs(binding.node, use)
            if certain is False:
                continue
            if certain is UNKNOWN and binding.how not in ("import", "function", "class"):
                return UNKNOWN
            return self._bound(binding)
        return UNKNOWN

    def _bound(self, binding: Binding) -> Any:
        if binding.how == "import":
            return self._import(binding)
        if binding.how in ("function", "class"):
            return Function(binding.node, self.names.scope(binding.node))  # type: ignore[arg-type]
        if binding.value is None:
            return UNKNOWN
        value = self.remember(binding, lambda: self.eval(binding.value, None))
        for index in binding.path:
            if not isinstance(value, tuple | list) or index >= len(value):
                return UNKNOWN
            value = value[index]
        return value

    def _import(self, binding: Binding) -> Any:
        name = binding.dotted
        if name in library.FALSE_WHEN_SCANNED:
            return UNKNOWN
        return self.dotted(name)

    def remember(self, key: object, compute: Any) -> Any:
        """Return the value of `key`, computed once with its events; a cycle is `UNKNOWN`."""
        if key in self._cache:
            value, seen = self._cache[key]
            self.events |= seen
        else:
            if key in self._active or self.depth > DEPTH:
                return UNKNOWN
            self._active.add(key)
            self.depth += 1
            before, self.events = self.events, set()
            try:
                value = compute()
            except Raised as error:
                value = error
            finally:
                self._active.discard(key)
                self.depth -= 1
                seen = frozenset(self.events)
                self.events = before | seen
            self._cache[key] = value, seen
        if isinstance(value, Raised):
            raise value
        return value

    def _exclusive(self, one: ast.AST, other: ast.AST) -> bool:
        """Tell whether `one` and `other` stand in branches of one statement that never run together."""
        above = dict(self.names.ancestors(other))
        for parent, child in self.names.ancestors(one):
            if parent in above:
                return (
                    isinstance(parent, ast.If | ast.IfExp)
                    and _branch(parent, child) * _branch(parent, above[parent]) < 0
                )
        return False

    def runs(self, node: ast.AST, use: ast.AST | None) -> Any:
        """Tell whether `node` is executed, given that `use` is, or that its scope is: True, False or `UNKNOWN`."""
        shared = {parent for parent, _ in self.names.ancestors(use)} if use is not None else set()
        answer: Any = True
        for parent, child in self.names.ancestors(node):
            if parent in shared or isinstance(
                parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
            ):
                break
            step = self._enters(parent, child)
            if step is False:
                return False
            answer = step if answer is True else answer
        return answer

    def _enters(self, parent: ast.AST, child: ast.AST) -> Any:
        if isinstance(parent, ast.If | ast.IfExp) and (side := _branch(parent, child)):
            test = self.truth(parent.test)
            return test if test is UNKNOWN else test is (side > 0)
        if isinstance(parent, ast.Try):
            if child in parent.handlers:
                return self.fails(parent)
            return True if child in parent.body or child in parent.finalbody else _negated(self.fails(parent))
        loops = isinstance(parent, ast.While | ast.For | ast.AsyncFor | ast.match_case)
        return UNKNOWN if loops else True

    def truth(self, node: ast.expr) -> Any:
        """Return whether `node` is true where it stands: True, False or `UNKNOWN`."""

        def compute() -> Any:
            try:
                return as_bool(self.eval(node, None))
            except Raised:
                return UNKNOWN

        return self.remember(("truth", node), compute)

    def fails(self, node: ast.Try) -> Any:
        """Tell whether the body of a ``try`` raises: `UNKNOWN` where it may; other packages count as installed."""

        def compute() -> Any:
            answer: Any = False
            for statement in node.body:
                try:
                    done = self._try_statement(statement)
                except Raised:
                    return True
                answer = done if answer is False else answer
            return answer

        return self.remember(("fails", node), compute)

    def _try_statement(self, node: ast.stmt) -> Any:
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = "" if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
            for alias in node.names:
                name = f"{base}.{alias.name}" if base else alias.name
                if name.startswith("torch.") and features.has(name, self.build.base) is False:
                    raise Raised(ImportError(name))
                if name.startswith("torch.") and features.known(name) and features.has(name, self.build.base) is None:
                    return UNKNOWN
            return False
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value is not None:
            self.eval(node.value, None)
        return False

    def dotted(self, path: str) -> Any:
        """Return what a full name stands for; raise `Raised` where torch does not have it."""
        if path in ("torch.__version__", "torch.torch_version.__version__"):
            return TorchText(self.build.text)
        if path == "torch.version.__version__":
            return self.build.text
        leaf = path.rpartition(".")[2]
        if leaf not in library.GATES and not path.startswith("torch.") and (flag := library.coded(leaf)):
            answer, bounds = library.holds(self.build, *flag)
            self.events |= {Event("bound", f"{sign} {bound}") for sign, bound in bounds}
            return answer
        if path.startswith("torch."):
            has = features.has(path, self.build.base)
            if has is False or (path == "torch.version.git_version" and self.build.meta):
                raise Raised(AttributeError(path))
        return Dotted(path)

    def _attribute(self, node: ast.Attribute, local: dict[str, Any] | None) -> Any:
        return self.attribute(self.eval(node.value, local), node.attr)

    def attribute(self, value: Any, name: str) -> Any:
        """Return an attribute; raise `Raised` where there is none."""
        if isinstance(value, Dotted):
            return self.dotted(f"{value.path}.{name}")
        if isinstance(value, Instance):
            return self.member(value, name)
        if isinstance(value, Loose) and name == "version":
            return value.version
        if value is None:
            raise Raised(AttributeError(name))
        if isinstance(value, _READABLE) and not name.startswith("_") and name not in _UNSAFE:
            try:
                return getattr(value, name)
            except AttributeError as error:
                raise Raised(error) from None
        return UNKNOWN

    def _subscript(self, node: ast.Subscript, local: dict[str, Any] | None) -> Any:
        value = self.eval(node.value, local)
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.eval(b, local) if b is not None else None
                for b in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            index: Any = UNKNOWN if any(b is UNKNOWN for b in bounds) else slice(*bounds)
        else:
            index = self.eval(node.slice, local)
        if index is UNKNOWN or not isinstance(value, str | tuple | list | dict | re.Match):
            return UNKNOWN
        if isinstance(value, str) and str(value) == self.build.text:
            if (
                isinstance(index, slice)
                and isinstance(index.stop, int)
                and 0 < index.stop <= 4
                and index.start in (None, 0)
            ):
                self.events.add(Event("slice"))
            elif isinstance(index, int) and index >= 2:
                self.events.add(Event("character"))
        try:
            return value[index]
        except Exception as error:
            raise Raised(error) from None

    def _boolop(self, node: ast.BoolOp, local: dict[str, Any] | None) -> Any:
        stop = isinstance(node.op, ast.Or)
        answer: Any = not stop
        unknown = False
        for part in node.values:
            try:
                answer = self.eval(part, local)
            except Raised:
                if not unknown:
                    raise
                answer = UNKNOWN
            decided = as_bool(answer)
            if decided is stop:
                return answer
            unknown = unknown or decided is UNKNOWN
        return UNKNOWN if unknown else answer

    def _unaryop(self, node: ast.UnaryOp, local: dict[str, Any] | None) -> Any:
        value = self.eval(node.operand, local)
        if isinstance(node.op, ast.Not):
            return _negated(as_bool(value))
        return -value if isinstance(node.op, ast.USub) and isinstance(value, int | float) else UNKNOWN

    def _compare(self, node: ast.Compare, local: dict[str, Any] | None) -> Any:
        left = self.eval(node.left, local)
        answer: Any = True
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.eval(part, local)
            step = compare(op, left, right, self.build, self.events)
            if step is False:
                return False
            answer = step if answer is True else answer
            left = right
        return answer

    def _ifexp(self, node: ast.IfExp, local: dict[str, Any] | None) -> Any:
        test = as_bool(self.eval(node.test, local))
        return UNKNOWN if test is UNKNOWN else self.eval(node.body if test else node.orelse, local)

    def _namedexpr(self, node: ast.NamedExpr, local: dict[str, Any] | None) -> Any:
        value = self.eval(node.value, local)
        if local is not None:
            local[node.target.id] = value
        return value

    def _lambda(self, node: ast.Lambda, local: dict[str, Any] | None) -> Any:
        return Function(node, self.names.scope(node), dict(local or {}))


def as_bool(value: Any) -> Any:
    """Return the truth of a value: True, False or `UNKNOWN`."""
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, Mark):
        return value.when
    if isinstance(value, Dotted | Function | Instance):
        return True if isinstance(value, Function) or value_exists(value) else UNKNOWN
    return bool(value)


def value_exists(value: Any) -> bool:
    """Tell whether a dotted name is a function or module of torch, which is true."""
    return isinstance(value, Dotted) and features.known(value.path)


def _negated(answer: Any) -> Any:
    return UNKNOWN if answer is UNKNOWN else not answer


def _branch(parent: ast.If | ast.IfExp, child: ast.AST) -> int:
    """Return 1 for the branch of a true test, -1 for the other, 0 for the test itself."""
    if child is parent.test:
        return 0
    body = parent.body if isinstance(parent.body, list) else [parent.body]
    return 1 if child in body else -1
