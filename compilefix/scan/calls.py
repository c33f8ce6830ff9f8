"""Calls of the scanned program: known library functions, and functions and classes of the file itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compilefix.scan import features, library
from compilefix.scan.compare import Event, compare
from compilefix.scan.names import Names
from compilefix.scan.releases import Build
from compilefix.scan.values import UNKNOWN, Dotted, Function, Instance, Loose, Mark, Partial, Raised

_OPERATORS = {"lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq}
_DISTRIBUTION = ("importlib.metadata", "importlib_metadata", "pkg_resources")


LARGEST = 400
"""Nodes of a function that is still taken for a helper."""


class Returned(Exception):  # noqa: N818  (a signal)
    """A function of the scanned program returns."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Undecided(Exception):  # noqa: N818  (a signal)
    """What the function does depends on something unknown."""


class Calls:
    """The part of the evaluator that calls and executes."""

    names: Names
    build: Build
    events: set[Event]
    depth: int

    def eval(self, node: ast.expr, local: dict[str, Any] | None) -> Any:
        """Evaluate an expression."""
        raise NotImplementedError

    def attribute(self, value: Any, name: str) -> Any:
        """Return an attribute."""
        raise NotImplementedError

    def _call(self, node: ast.Call, local: dict[str, Any] | None) -> Any:
        function = self.eval(node.func, local)
        if function is UNKNOWN:
            return UNKNOWN
        args: list[Any] = []
        for argument in node.args:
            value = self.eval(argument.value if isinstance(argument, ast.Starred) else argument, local)
            if isinstance(argument, ast.Starred):
                if not isinstance(value, tuple | list):
                    return UNKNOWN
                args += value
            else:
                args.append(value)
        if any(k.arg is None for k in node.keywords):
            return UNKNOWN
        kwargs = {str(k.arg): self.eval(k.value, local) for k in node.keywords}
        self._floats(node)
        return self.call(function, tuple(args), kwargs)

    def _floats(self, node: ast.Call) -> None:
        for value in (*node.args, *(k.value for k in node.keywords)):
            if isinstance(value, ast.Constant) and isinstance(value.value, float):
                width = (value.end_col_offset or 0) - value.col_offset
                if width > len(repr(value.value)):  # 2.10 is written with a zero that the number does not have
                    self.events.add(Event("zero"))

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a call returns; `UNKNOWN` where that cannot be told."""
        if isinstance(function, Partial):
            return self.call(function.function, function.args + args, function.kwargs | kwargs)
        if isinstance(function, Function):
            return self._call_own(function, args, kwargs)
        if isinstance(function, Instance):
            return self.call(self.member(function, "__call__"), args, kwargs)
        if isinstance(function, Mark):
            return function
        if isinstance(function, Dotted):
            return self._call_dotted(function, args, kwargs)
        if not callable(function) or any(_vague(v) for v in (*args, *kwargs.values())):
            return UNKNOWN
        return self._method(function, args, kwargs)

    def _method(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of a value that is known."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if (
            isinstance(owner, str)
            and name == "replace"
            and args == (".", "")
            and owner.startswith(str(self.build.base.major))
        ):
            self.events.add(Event("digits"))
        if isinstance(owner, SpecifierSet):
            self._specifiers(owner)
        try:
            found = function(*args, **kwargs)
        except Exception as error:
            raise Raised(error) from None
        if name in ("groups", "group", "groupdict") and owner is not None:
            self._regex(found)
        return found

    def _regex(self, found: Any) -> None:
        pieces = [found] if isinstance(found, str) else found if isinstance(found, tuple) else []
        minor = str(self.build.base.minor)
        if len(pieces) > 1 and isinstance(pieces[1], str) and pieces[1] != minor and minor.startswith(pieces[1]):
            self.events.add(Event("regex"))

    def _specifiers(self, found: SpecifierSet) -> None:
        self.events |= {Event("bound", f"{s.operator} {s.version}") for s in found if "dev" in s.version}

    def _call_dotted(self, function: Dotted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        path, leaf = function.path, function.path.rpartition(".")[2]
        if path in ("hasattr", "getattr"):
            return self._probe(path, args)
        if path == "map" and len(args) == 2:
            return [self.call(args[0], (v,), {}) for v in args[1]] if isinstance(args[1], Iterable) else UNKNOWN
        if path == "isinstance" or path.startswith("torch.cuda."):
            return UNKNOWN
        if (found := library.mark(path, args, kwargs)) is not None:
            return found
        if library.partial_of(function) and args:
            return Partial(args[0], args[1:], kwargs)
        if leaf in library.GATES:
            answer, bounds = library.gate(leaf, args, kwargs, self.build)
            self.events |= {Event("bound", f"{sign} {bound}") for sign, bound in bounds}
            return answer
        if path.startswith(_DISTRIBUTION) and args[:1] and args[0] in library.TORCH:
            return self.build.text if leaf == "version" else UNKNOWN
        if any(_vague(v) for v in (*args, *kwargs.values())):
            return UNKNOWN
        if path.startswith("operator.") and leaf in _OPERATORS and len(args) == 2 and not kwargs:
            return compare(_OPERATORS[leaf](), args[0], args[1], self.build, self.events)
        called: Any = library.PLAIN.get(path) or library.LOOSE.get(leaf)
        if called is None and leaf == "Version" and "torch" not in path:
            called = Version
        if called is None:
            return UNKNOWN
        return self._library(called, args, kwargs)

    def _library(self, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if called is float and args and isinstance(args[0], str):
            self.events.add(Event("float"))
        if called is range and (len(args) > 3 or any(not isinstance(v, int) or abs(v) > 1000 for v in args)):
            return UNKNOWN
        if called is str and args and isinstance(args[0], Loose):
            return UNKNOWN
        if called is Version and args and isinstance(args[0], Version):
            raise Raised(TypeError("expected a string"))
        try:
            found = called(*args, **kwargs)
        except Exception as error:
            raise Raised(error) from None
        return list(found) if called in (zip, enumerate, reversed) else found

    def _probe(self, path: str, args: tuple[Any, ...]) -> Any:
        if len(args) < 2 or not isinstance(args[1], str):
            return UNKNOWN
        value, name = args[0], args[1]
        missing: Any = args[2] if len(args) > 2 else UNKNOWN
        if value is None:
            return False if path == "hasattr" else missing
        if not isinstance(value, Dotted) or not f"{value.path}.".startswith("torch."):
            return UNKNOWN
        full = f"{value.path}.{name}"
        try:
            found = self.attribute(value, name)
        except Raised:
            return False if path == "hasattr" else missing
        if full == "torch.version.git_version":
            self.events.add(Event("feature", full))
            return True if path == "hasattr" else found
        valued = path == "getattr" and value.path == "torch.version"  # its names may be None
        if not features.known(full) or valued:
            return UNKNOWN
        has = features.has(full, self.build.base)
        self.events.add(Event("feature", full))
        return UNKNOWN if has is None else True if path == "hasattr" else found

    def member(self, value: Instance, name: str) -> Any:
        """Return an attribute of an object of the file's own class."""
        if name in value.attributes:
            return value.attributes[name]
        for node in value.cls.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return Function(node, value.scope, bound=value)
        return UNKNOWN

    def _call_own(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        node = function.node
        if self.depth > 12:
            return UNKNOWN
        if isinstance(node, ast.ClassDef):
            made = Instance(node, function.scope)
            begin = self.member(made, "__init__")
            if isinstance(begin, Function):
                self._call_own(begin, args, kwargs)
            return made
        if isinstance(node, ast.AsyncFunctionDef):
            return UNKNOWN
        local = dict(function.closure)
        if function.bound is not None:
            args = (function.bound, *args)
        if not self._bind_arguments(node, local, args, kwargs):
            return UNKNOWN
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.eval(node.body, local)
            names = _assigned(node)
            if names is None:
                return UNKNOWN
            for name in names:
                local.setdefault(name, UNKNOWN)
            self._block(node.body, local)
        except Returned as done:
            return done.value
        except Undecided:
            return UNKNOWN
        finally:
            self.depth -= 1
        return None

    def _bind_arguments(
        self, node: ast.FunctionDef | ast.Lambda, local: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        declared = node.args
        positional = [a.arg for a in (*declared.posonlyargs, *declared.args)]
        for name, default in zip(positional[::-1], declared.defaults[::-1], strict=False):
            local[name] = self.eval(default, None)
        for argument, keyword_default in zip(declared.kwonlyargs, declared.kw_defaults, strict=True):
            local[argument.arg] = UNKNOWN if keyword_default is None else self.eval(keyword_default, None)
        if len(args) > len(positional) and declared.vararg is None:
            return False
        local |= dict(zip(positional, args, strict=False))
        if declared.vararg is not None:
            local[declared.vararg.arg] = tuple(args[len(positional) :])
        known = {*positional, *(a.arg for a in declared.kwonlyargs)}
        if declared.kwarg is not None:
            local[declared.kwarg.arg] = {k: v for k, v in kwargs.items() if k not in known}
        elif set(kwargs) - known:
            return False
        local |= {k: v for k, v in kwargs.items() if k in known}
        for name in positional:
            local.setdefault(name, UNKNOWN)
        return True

    def _block(self, nodes: list[ast.stmt], local: dict[str, Any]) -> None:
        from compilefix.scan.execute import statement

        for node in nodes:
            statement(self, node, local)

    def _listcomp(self, node: ast.ListComp, local: dict[str, Any] | None) -> Any:
        return self._comprehension(node, local)

    def _generatorexp(self, node: ast.GeneratorExp, local: dict[str, Any] | None) -> Any:
        return self._comprehension(node, local)

    def _setcomp(self, node: ast.SetComp, local: dict[str, Any] | None) -> Any:
        found = self._comprehension(node, local)
        hashed = found is not UNKNOWN and all(isinstance(v, str | int | float | Version) for v in found)
        return set(found) if hashed else UNKNOWN

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, local: dict[str, Any] | None) -> Any:
        generator = node.generators[0]
        values = self.eval(generator.iter, local)
        if len(node.generators) > 1 or isinstance(values, Dotted) or not isinstance(values, Iterable):
            return UNKNOWN
        found = []
        for value in values:
            inner = dict(local or {})
            if not unpack(generator.target, value, inner):
                return UNKNOWN
            kept = [self.eval(test, inner) for test in generator.ifs]
            if any(k is UNKNOWN for k in kept):
                return UNKNOWN
            if all(kept):
                found.append(self.eval(node.elt, inner))
        return found


def unpack(target: ast.expr, value: Any, local: dict[str, Any]) -> bool:
    """Assign `value` to the names of `target`; False where that cannot be followed."""
    if isinstance(target, ast.Name):
        local[target.id] = value
        return True
    if isinstance(target, ast.Tuple | ast.List):
        if not isinstance(value, tuple | list) or len(value) != len(target.elts):
            for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                local[name] = UNKNOWN
            return False
        done = [unpack(t, v, local) for t, v in zip(target.elts, value, strict=True)]
        return all(done)
    return False


@cache
def _assigned(node: ast.FunctionDef) -> frozenset[str] | None:
    """Return the names that a helper assigns; None for a function that is too large to be one."""
    inner = list(ast.walk(node))
    if len(inner) > LARGEST:
        return None
    return frozenset(n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _vague(value: Any) -> bool:
    """Tell whether a value is unknown, or holds something that is."""
    if isinstance(value, tuple | list):
        return any(_vague(v) for v in value)
    if isinstance(value, dict):
        return any(_vague(v) for v in value.values())
    return value is UNKNOWN or isinstance(value, Dotted | Function | Instance)
