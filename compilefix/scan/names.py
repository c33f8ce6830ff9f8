"""Names of a file: scopes, what binds a name, and which bindings can reach a use. Nothing is evaluated here."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeVar, cast

How = Literal["value", "import", "function", "class", "parameter", "unknown"]
Place = tuple[int, int]
_Node = TypeVar("_Node", bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPED = frozenset((*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS))
_SPLIT = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
"""Nodes of which a part is evaluated in the scope around them."""

_BINDERS = frozenset(
    (
        *(ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor),
        *(ast.withitem, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.Delete, ast.Global, ast.Nonlocal),
    )
)
_LEAVES = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "type_comment", "kind", "conversion", "level", "module"})
"""Fields that hold text, or nodes without place and content, which are shared by all of a tree."""

_FIELDS = {
    kind: tuple(name for name in reversed(kind._fields) if name not in _LEAVES and kind is not ast.Constant)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""Fields of each type of node that may hold nodes, the last one first."""


@dataclass(slots=True, eq=False)
class Binding:
    """One statement that gives a name its value."""

    how: How
    node: ast.AST
    place: Place
    """Where the binding has happened: the end of its statement."""

    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    """Where in an unpacked `value` the name's own value is."""

    dotted: str = ""
    """Full name of what is imported."""


@dataclass(slots=True, eq=False)
class Scope:
    """Names of a module, class, function or comprehension."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    """Names declared ``global`` or ``nonlocal``."""


class Names:
    """Scopes, parents and bindings of one parsed file."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self.module = Scope(tree, None)
        self.reassigned: set[str] = set()
        """Module names that some function assigns to."""

        self.nodes: list[ast.AST] = []
        """All nodes but contexts and operators, in the order of the source."""

        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = []
        self._kinds: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._scope_of: dict[ast.AST, Scope] = {}
        self._enter(tree, self.module)

    def of(self, kind: type[_Node]) -> list[_Node]:
        """Return all nodes of one type, in the order of the source."""
        return cast("list[_Node]", self._kinds[kind])

    def ancestors(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield (parent, child) from `node` upwards."""
        while (parent := self.parents.get(node)) is not None:
            yield parent, node
            node = parent

    def scope(self, node: ast.AST) -> Scope:
        """Return the scope in which `node` is evaluated."""
        return self._scope_of.get(node, self.module)

    def lookup(self, name: str, start: Scope) -> tuple[Scope, list[Binding]] | None:
        """Return the scope that binds `name` as seen from `start`, and all its bindings in order."""
        scope: Scope | None = start
        while scope is not None:
            skipped = isinstance(scope.node, ast.ClassDef) and scope is not start
            if not skipped and name in scope.bindings and name not in scope.outer:
                return scope, scope.bindings[name]
            scope = scope.parent
        return None

    def outer(self, scope: Scope | None) -> set[str]:
        """Return the names that `scope`, or one around it, declares ``global`` or ``nonlocal``."""
        found: set[str] = set()
        while scope is not None:
            found |= scope.outer
            scope = scope.parent
        return found

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement that holds `node`."""
        while not isinstance(node, ast.stmt) and node in self.parents:
            node = self.parents[node]
        return node

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Tell whether `node` lies in `outer`."""
        return node is outer or any(parent is outer for parent, _ in self.ancestors(node))

    def _enter(self, node: ast.AST, scope: Scope) -> None:
        """Walk without recursion: generated files nest deeply."""
        parents, where_of, nodes, kinds = self.parents, self._scope_of, self.nodes, self._kinds
        self.scopes[node] = scope
        stack = [node]
        where_of[node] = scope
        while stack:
            child = stack.pop()
            where = inner = where_of[child]
            kind = child.__class__
            nodes.append(child)
            kinds[kind].append(child)
            if kind in _SCOPED:
                inner = self.scopes[child] = Scope(child, where)
                self._own(child, where, inner)
            elif kind in _BINDERS:
                self._bind(child, where)
            begin = len(stack)
            for name in _FIELDS[kind]:
                value = getattr(child, name, None)
                if value.__class__ is list:
                    stack += [item for item in reversed(value) if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    stack.append(value)
            for grandchild in stack[begin:]:
                parents[grandchild] = child
                where_of[grandchild] = inner
            if kind in _SPLIT:
                for grandchild in stack[begin:]:
                    if _outside(child, grandchild):
                        where_of[grandchild] = where
        for held in self.scopes.values():
            for found in held.bindings.values():
                found.sort(key=lambda b: b.place)

    def _own(self, node: ast.AST, where: Scope, inner: Scope) -> None:
        if isinstance(node, FUNCTIONS):
            self.functions.append(node)
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                _add(inner, argument.arg, Binding("parameter", argument, (0, 0)))
            for rest in (arguments.vararg, arguments.kwarg):
                if rest is not None:
                    _add(inner, rest.arg, Binding("parameter", rest, (0, 0)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _add(where, node.name, Binding("function", node, _end(node)))
        elif isinstance(node, ast.ClassDef):
            _add(where, node.name, Binding("class", node, _end(node)))
        elif isinstance(node, COMPREHENSIONS):
            for generator in node.generators:
                self._targets(inner, generator.target, None, node, (0, 0))

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    dotted = alias.name if alias.asname else bound
                    self._add(scope, bound, Binding("import", node, _end(node), dotted=dotted))
            case ast.ImportFrom():
                base = "." * node.level + (node.module or "")
                for alias in node.names:
                    if alias.name == "*":
                        continue
                    dotted = f"{base}.{alias.name}"
                    self._add(scope, alias.asname or alias.name, Binding("import", node, _end(node), dotted=dotted))
            case ast.Assign():
                for target in node.targets:
                    self._targets(scope, target, node.value, node, _end(node))
            case ast.AnnAssign() if node.value is not None:
                self._targets(scope, node.target, node.value, node, _end(node))
            case ast.NamedExpr():
                outer = scope
                while isinstance(outer.node, COMPREHENSIONS) and outer.parent:
                    outer = outer.parent
                self._targets(outer, node.target, node.value, node, _end(node))
            case ast.AugAssign():
                self._targets(scope, node.target, None, node, _end(node))
            case ast.For() | ast.AsyncFor():
                self._targets(scope, node.target, None, node, _end(node.target))
            case ast.withitem() if node.optional_vars is not None:
                self._targets(scope, node.optional_vars, None, node, _end(node.optional_vars))
            case ast.ExceptHandler() if node.name:
                self._add(scope, node.name, Binding("unknown", node, (node.lineno, node.col_offset)))
            case ast.MatchAs() | ast.MatchStar() if node.name:
                self._add(scope, node.name, Binding("unknown", node, _end(node)))
            case ast.Delete():
                for target in node.targets:
                    self._targets(scope, target, None, node, _end(node))
            case ast.Global() | ast.Nonlocal():
                scope.outer.update(node.names)

    def _targets(
        self,
        scope: Scope,
        target: ast.expr,
        value: ast.expr | None,
        node: ast.AST,
        place: Place,
        path: tuple[int, ...] = (),
    ) -> None:
        match target:
            case ast.Name():
                how: How = "value" if value is not None else "unknown"
                self._add(scope, target.id, Binding(how, node, place, value, path))
            case ast.Tuple() | ast.List():
                starred = any(isinstance(item, ast.Starred) for item in target.elts)
                for index, item in enumerate(target.elts):
                    self._targets(scope, item, None if starred else value, node, place, (*path, index))
            case ast.Starred():
                self._targets(scope, target.value, None, node, place)

    def _add(self, scope: Scope, name: str, binding: Binding) -> None:
        if name in scope.outer:
            self.reassigned.add(name)
            return
        _add(scope, name, binding)


def _add(scope: Scope, name: str, binding: Binding) -> None:
    scope.bindings.setdefault(name, []).append(binding)


def _end(node: ast.AST) -> Place:
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0


def _outside(holder: ast.AST, child: ast.AST) -> bool:
    """Tell whether `child` of a function or class is evaluated in the scope around it: decorators, defaults, bases."""
    if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef):
        return child in holder.decorator_list or child is holder.returns
    if isinstance(holder, ast.ClassDef):
        return child not in holder.body
    return False


def place(node: ast.AST) -> Place:
    """Return line and column at which `node` begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
