"""Containers, arithmetic and formatted text of the scanned program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from packaging.version import Version

from compilefix.scan.values import PLAIN, UNKNOWN, Raised

LARGEST = 100
"""Items of a container that is still looked at."""

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_HASHED = (str, int, float, bytes, type(None), Version)


class Literals:
    """The part of the evaluator that makes values of values."""

    def eval(self, node: ast.expr, local: dict[str, Any] | None) -> Any:
        """Evaluate an expression."""
        raise NotImplementedError

    def _tuple(self, node: ast.Tuple, local: dict[str, Any] | None) -> Any:
        items = self._items(node.elts, local)
        return items if items is UNKNOWN else tuple(items)

    def _list(self, node: ast.List, local: dict[str, Any] | None) -> Any:
        return self._items(node.elts, local)

    def _set(self, node: ast.Set, local: dict[str, Any] | None) -> Any:
        items = self._items(node.elts, local)
        return set(items) if items is not UNKNOWN and all(isinstance(v, _HASHED) for v in items) else UNKNOWN

    def _items(self, nodes: list[ast.expr], local: dict[str, Any] | None) -> Any:
        found: list[Any] = []
        if len(nodes) > LARGEST:
            return UNKNOWN
        for item in nodes:
            value = self.eval(item.value if isinstance(item, ast.Starred) else item, local)
            if isinstance(item, ast.Starred):
                if not isinstance(value, tuple | list):
                    return UNKNOWN
                found += value
            else:
                found.append(value)
        return found

    def _dict(self, node: ast.Dict, local: dict[str, Any] | None) -> Any:
        if len(node.keys) > LARGEST or any(key is None for key in node.keys):
            return UNKNOWN
        keys = [self.eval(key, local) for key in node.keys if key is not None]
        if not all(isinstance(key, _HASHED) for key in keys):
            return UNKNOWN
        return dict(zip(keys, (self.eval(v, local) for v in node.values), strict=True))

    def _binop(self, node: ast.BinOp, local: dict[str, Any] | None) -> Any:
        left, right = self.eval(node.left, local), self.eval(node.right, local)
        operation = _ARITHMETIC.get(type(node.op))
        if operation is None or not isinstance(left, PLAIN) or not isinstance(right, PLAIN):
            return UNKNOWN
        if isinstance(node.op, ast.Mult | ast.Mod) and not (
            isinstance(left, int | float) and isinstance(right, int | float)
        ):
            return UNKNOWN
        try:
            return operation(left, right)
        except Exception as error:
            raise Raised(error) from None

    def _joinedstr(self, node: ast.JoinedStr, local: dict[str, Any] | None) -> Any:
        text = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.eval(part.value, local)
                if not isinstance(value, str | int | float | Version) or part.format_spec is not None:
                    return UNKNOWN
                text += str(value)
            else:
                text += str(self.eval(part, local))
        return text
