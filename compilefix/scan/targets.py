"""What an expression refers to in its own file: functions, methods, and the ``forward`` of modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from compilefix.scan.names import FUNCTIONS, Names

Unit = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_ALIASES = {"torch.compiler.compile": "torch.compile"}
DEPTH = 8


class Targets:
    """Resolves expressions of one file to its functions."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.units: list[Unit] = names.functions
        self.calls = names.of(ast.Call)
        self._classes: dict[ast.ClassDef, dict[str, Unit]] = {}
        self._attributes: dict[ast.ClassDef, dict[str, list[ast.expr]]] = {}
        self._made: dict[ast.expr, ast.ClassDef | None] = {}
        for holder in names.of(ast.ClassDef):
            own = {n.name: n for n in holder.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
            self._classes[holder] = dict(own)
        for node in names.of(ast.Assign):
            for target in node.targets:
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                ):
                    owner = self.owner(node)
                    if owner is not None:
                        self._attributes.setdefault(owner, {}).setdefault(target.attr, []).append(node.value)

    @cached_property
    def loaded(self) -> set[str]:
        """The names that are read somewhere."""
        return {node.id for node in self.names.of(ast.Name) if isinstance(node.ctx, ast.Load)}

    def path(self, node: ast.expr, depth: int = 0) -> str:
        """Return the full name of something imported, such as ``torch.compile``; empty for all else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        found = self.names.lookup(node.id, self.names.scope(node))
        if found is None:
            base = node.id if node.id == "torch" else ""
        else:
            last = found[1][-1]
            base = last.dotted
            if (
                last.how == "value"
                and last.value is not None
                and isinstance(last.value, ast.Attribute)
                and not last.path
            ):
                base = self.path(last.value, depth + 1) if len(found[1]) == 1 and depth < DEPTH else ""
        full = ".".join([base, *reversed(parts)]) if base else ""
        return _ALIASES.get(full, full)

    def units_around(self, node: ast.AST) -> Iterator[Unit]:
        """Yield the functions around `node`, the innermost first; decorators and defaults lie outside of theirs."""
        for parent, child in self.names.ancestors(node):
            if isinstance(parent, FUNCTIONS) and (isinstance(parent, ast.Lambda) or child in parent.body):
                yield parent

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the class around `node`."""
        return next((p for p, _ in self.names.ancestors(node) if isinstance(p, ast.ClassDef)), None)

    def methods(self, owner: ast.ClassDef, depth: int = 0) -> dict[str, Unit]:
        """Return the methods of a class and of its bases in this file."""
        found: dict[str, Unit] = {}
        for base in owner.bases if depth < DEPTH else ():
            if (parent := self._class(base)) is not None and parent is not owner:
                found |= self.methods(parent, depth + 1)
        return found | self._classes.get(owner, {})

    def is_lightning(self, owner: ast.ClassDef) -> bool:
        """Tell whether a class is a LightningModule."""
        return any("LightningModule" in ast.unparse(base) for base in owner.bases)

    def _class(self, node: ast.expr) -> ast.ClassDef | None:
        if not isinstance(node, ast.Name):
            return None
        found = self.names.lookup(node.id, self.names.scope(node))
        return next((b.node for b in reversed(found[1]) if isinstance(b.node, ast.ClassDef)), None) if found else None

    def class_of(self, node: ast.expr, depth: int = 0) -> ast.ClassDef | None:
        """Return the class of this file that `node` is an object of, seen through wrappers such as DDP."""
        if depth > DEPTH:
            return None
        if node not in self._made:
            self._made[node] = None  # an answer for cycles
            self._made[node] = self._object(node, depth)
        return self._made[node]

    def _object(self, node: ast.expr, depth: int) -> ast.ClassDef | None:
        match node:
            case ast.Call():
                if (made := self._class(node.func)) is not None:
                    return made
                if isinstance(node.func, ast.Attribute) and not self.path(node.func):
                    return self.class_of(node.func.value, depth + 1)  # model.to(device)
                return self.class_of(node.args[0], depth + 1) if node.args else None
            case ast.Name(id="self"):
                return self.owner(node)
            case ast.Name():
                found = self.names.lookup(node.id, self.names.scope(node))
                for binding in reversed(found[1]) if found else ():
                    if binding.value is not None and not binding.path and not self.names.inside(node, binding.value):
                        made = self.class_of(binding.value, depth + 1)
                        if made is not None:
                            return made
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                owner = self.owner(node)
                for value in self._attributes.get(owner, {}).get(name, ()) if owner else ():
                    if (made := self.class_of(value, depth + 1)) is not None:
                        return made
            case ast.IfExp():
                return self.class_of(node.body, depth + 1) or self.class_of(node.orelse, depth + 1)
        return None

    def module(self, node: ast.expr) -> list[Unit]:
        """Return the ``forward`` of the module that `node` is."""
        owner = self.class_of(node)
        forward = self.methods(owner).get("forward") if owner is not None else None
        return [forward] if forward is not None else []

    def resolve(self, node: ast.expr, depth: int = 0) -> list[Unit]:
        """Return the functions that run when `node` is called."""
        if depth > DEPTH:
            return []
        match node:
            case ast.Lambda():
                return [node]
            case ast.Name():
                found = self.names.lookup(node.id, self.names.scope(node))
                functions = [b.node for b in found[1] if isinstance(b.node, ast.FunctionDef)] if found else []
                if functions:
                    return [functions[-1]]
                for binding in found[1] if found else ():
                    if isinstance(binding.value, ast.Lambda):
                        return [binding.value]
                return self.module(node)
            case ast.Attribute(value=holder, attr=name):
                owner = self.class_of(holder)
                if owner is None and isinstance(holder, ast.Name):
                    owner = self._class(holder)
                if isinstance(holder, ast.Call) and leaf(holder) == "super":
                    owner = (
                        next((c for b in o.bases if (c := self._class(b))), None) if (o := self.owner(node)) else None
                    )
                method = self.methods(owner).get(name) if owner is not None else None
                return [method] if method is not None else self.module(node)
            case ast.Call():
                if self.path(node.func) == "functools.partial" and node.args:
                    return self.resolve(node.args[0], depth + 1)
                return self.module(node)
            case ast.IfExp():
                return [*self.resolve(node.body, depth + 1), *self.resolve(node.orelse, depth + 1)]
        return []

    def called(self, node: ast.Call) -> list[Unit]:
        """Return the functions of this file that a call may run, functions given as arguments included."""
        found = list(self.resolve(node.func))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "apply":
            owner = self._class(node.func.value)
            found += [m for n, m in self.methods(owner).items() if n in ("forward", "backward")] if owner else []
        if (made := self._class(node.func)) is not None:
            found += [m for n, m in self.methods(made).items() if n == "__init__"]
        if self.path(node.func) == "torch.compile":
            return []
        for argument in (*node.args, *(k.value for k in node.keywords)):
            if isinstance(argument, ast.Name | ast.Attribute | ast.Lambda):
                units = self.resolve(argument)
                found += [u for u in units if isinstance(argument, ast.Lambda) or getattr(u, "name", "") != "forward"]
        for unit in list(found):
            for decorator in getattr(unit, "decorator_list", ()):
                found += self.wrappers(decorator.func if isinstance(decorator, ast.Call) else decorator)
        return found

    def wrappers(self, decorator: ast.expr) -> list[Unit]:
        """Return the inner functions of a decorator of this file, which run around what it decorates."""
        found = self.resolve(decorator) if isinstance(decorator, ast.Name) else []
        return [n for u in found for n in ast.walk(u) if isinstance(n, ast.FunctionDef) and n is not u]


def leaf(node: ast.Call) -> str:
    """Return the last name of what is called."""
    return (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )
