"""Which names and expressions of a file depend on torch's version: a cheap filter before anything is evaluated."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from compilefix.scan import features, library
from compilefix.scan.names import Names
from compilefix.scan.targets import leaf

_ASKS = frozenset({"importlib.metadata.version", "importlib_metadata.version", "pkg_resources.get_distribution"})
"""Functions that tell the version of a distribution."""

_CATCHES = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"})
_ROUNDS = 6
LARGEST = 500
"""Nodes of a value or helper that is looked into."""


class Hot:
    """The names and nodes of one file through which torch's version, or an answer about it, is reached."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.imported: dict[str, str] = {}
        self.set = set(library.GATES)
        values: list[tuple[str, ast.AST]] = []
        for scope in names.scopes.values():
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    if binding.how == "import":
                        self._import(name, binding.dotted)
                    elif binding.how == "value" and binding.value is not None:
                        values.append((name, binding.value))
                    elif binding.how in ("function", "class"):
                        values.append((name, binding.node))
        self.imported.setdefault("torch", "torch")
        self.tries = [n for n in names.of(ast.Try) if n.handlers and self._probes(n)]
        for node in self.tries:
            self.set |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            self.set |= {a.asname or a.name for s in node.body if isinstance(s, ast.ImportFrom) for a in s.names}
        self._spread(values)
        self.nodes: set[ast.AST] = set()
        self.statements: set[ast.AST] = set()
        """Those in which a hot node stands."""

        self._mark()

    def _import(self, name: str, dotted: str) -> None:
        end = dotted.rpartition(".")[2]
        version = end == "__version__" and dotted.startswith("torch.")
        if version or dotted in _ASKS or end in library.GATES or library.coded(end):
            self.set.add(name)
        elif dotted == "torch" or dotted.startswith(("torch.", "importlib", "pkg_resources")):
            self.imported[name] = dotted

    def _spread(self, values: list[tuple[str, ast.AST]]) -> None:
        """Make a name hot where what it is bound to mentions one that is."""
        held: dict[ast.AST, list[str]] = defaultdict(list)
        for name, value in values:
            held[value].append(name)
        named: dict[str, list[ast.AST]] = defaultdict(list)
        for node in self.names.of(ast.Name):
            named[node.id].append(node)
        small: dict[ast.AST, bool] = {}

        def reached(node: ast.AST) -> Iterator[str]:
            above = [node, *(parent for parent, _ in self.names.ancestors(node))]
            for holder in above:
                if holder in held:
                    if holder not in small:  # no helper: what it mentions says nothing of what it returns
                        small[holder] = next(islice(ast.walk(holder), LARGEST + 1, None), None) is None
                    if not small[holder]:
                        return
                    yield from held[holder]

        fresh = self.set
        found = {name for node in self._sources() for name in reached(node)}
        for _ in range(_ROUNDS):
            found |= {name for hot in fresh for node in named.get(hot, ()) for name in reached(node)}
            fresh = found - self.set
            if not fresh:
                return
            self.set |= fresh

    def _sources(self) -> Iterator[ast.AST]:
        for node in self.names.of(ast.Attribute):
            if node.attr == "__version__" and self.source(node):
                yield node
        for call in self.names.of(ast.Call):
            if call.args and self.source(call):
                yield call

    def _mark(self) -> None:
        found = self.nodes
        named = [n for n in self.names.of(ast.Name) if n.id in self.set and isinstance(n.ctx, ast.Load)]
        for node in (*named, *self._sources()):
            found.add(node)
            for parent, _ in self.names.ancestors(node):
                if isinstance(parent, ast.stmt):
                    self.statements.add(parent)
                    break
                if parent in found:
                    break
                found.add(parent)

    def source(self, node: ast.AST) -> bool:
        """Tell whether `node` itself is torch's version, or a probe of torch for something that came or went."""
        match node:
            case ast.Attribute(attr="__version__"):
                return self.path(node).startswith("torch.")
            case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[holder, ast.Constant(value=str(name)), *_]):
                root = _root(holder)
                full = f"{self.path(holder)}.{name}"
                return root in self.set or features.known(full) or full == "torch.version.git_version"
            case ast.Call(args=[ast.Constant(value="torch"), *_]):
                return leaf(node) in ("version", "get_distribution", *library.GATES)
            case ast.Call(args=[ast.Constant(value=str(text)), *_]):
                return text.startswith("torch") and leaf(node) in library.GATES
        return False

    def path(self, node: ast.expr) -> str:
        """Return the full name of an attribute of torch; empty for all else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imported:
            return ""
        return ".".join([self.imported[node.id], *reversed(parts)])

    def _probes(self, node: ast.Try) -> bool:
        """Tell whether the body of a ``try`` asks for something that torch has in some releases only."""
        first = node.handlers[0].type
        caught = {n.id for h in node.handlers if h.type for n in ast.walk(h.type) if isinstance(n, ast.Name)}
        if first is None or not caught & _CATCHES:  # whatever else fails in the body would be caught too
            plain = all(isinstance(s, ast.Import | ast.ImportFrom) or _constant(s) for s in node.body)
            if not plain or (first is not None and "Exception" not in caught):
                return False
        return any(self._asks(statement) for statement in node.body[:3])

    def _asks(self, node: ast.stmt) -> bool:
        match node:
            case ast.ImportFrom(level=0, module=str(module), names=names):
                return (module == "torch" or module.startswith("torch.")) and any(
                    _known(f"{module}.{a.name}") for a in names
                )
            case ast.Import(names=names):
                return any(_known(a.name) for a in names)
            case ast.Assign(value=ast.Attribute() as value) | ast.Expr(value=ast.Attribute() as value):
                return _known(self.path(value))
        return False


def _constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _known(path: str) -> bool:
    """Tell whether the name, or a module on the way to it, came or went at a known release."""
    parts = path.split(".")
    return parts[0] == "torch" and any(features.known(".".join(parts[:n])) for n in range(2, len(parts) + 1))
