"""Calls of affected ops in one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.scan.knowledge import GENERIC, Knowledge
from compilefix.scan.targets import Targets

_SETITEM = "Tensor.__setitem__"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an op that a record is about."""

    node: ast.AST
    op: str
    records: tuple[str, ...]
    function: str
    """Full name of the function called; empty for methods and operators."""

    sure: bool
    """Called by its full name; a method's receiver may be something else than a tensor."""


def uses(targets: Targets, known: Knowledge) -> Iterator[Use]:
    """Yield the uses of ops that concern a supported release; assignments to items are among them."""
    ends = {op.rpartition(".")[2] for op in known.ops}
    for node in targets.calls:
        if isinstance(node.func, ast.Attribute) and ends.isdisjoint((node.func.attr, node.func.attr.removesuffix("_"))):
            continue
        found = _call(node, targets, known)
        if found is not None:
            yield found
    if _SETITEM in known.ops:
        for statement in targets.names.nodes:
            if isinstance(statement, ast.Assign | ast.AugAssign):
                goals = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if any(isinstance(g, ast.Subscript) and not _literal(g.slice) for g in goals):
                    yield Use(statement, _SETITEM, known.ops[_SETITEM], "", sure=False)


def _call(node: ast.Call, targets: Targets, known: Knowledge) -> Use | None:
    path = targets.path(node.func)
    if path.startswith("torch."):
        name = path.removeprefix("torch.")
        op = next(
            (o for o in (name, name.removesuffix("_"), name.replace("nn.functional.", "")) if o in known.ops), None
        )
        return Use(node, op, known.ops[op], path, sure=True) if op is not None else None
    if path or not isinstance(node.func, ast.Attribute):
        return None
    name = node.func.attr
    if name.removesuffix("_") in GENERIC:
        return None
    for op in (f"Tensor.{name}", name, name.removesuffix("_"), f"Tensor.{name.removesuffix('_')}"):
        if op in known.ops and not targets.resolve(node.func):
            return Use(node, op, known.ops[op], "", sure=False)
    return None


def _literal(node: ast.expr) -> bool:
    """Tell whether an index is text, which a tensor does not take."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
