"""Upstream's op replaced by the drop-in that avoids the defect, wherever the program calls it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from compilefix import ops
from compilefix.ops.drop_in import PLAIN, DropIn, build
from compilefix.ops.selection import cheapest
from compilefix.registry import Record
from compilefix.workarounds.interface import F

WIDTH = 1
ISLAND = "disable"


class Swap(TorchFunctionMode):
    """
    A scope in which calls of some torch functions and tensor methods go to drop-ins.

    Dynamo traces it, whether it is entered around a compiled function or inside of one; code that was compiled before
    is compiled again when it runs under it.
    """

    def __init__(self, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.table = dict(table)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        replaced = self.table.get(func)
        if replaced is None:
            return func(*args, **(kwargs or {}))
        return replaced(*args, **(kwargs or {}))

    def __call__(self, function: F) -> F:
        """Return `function` so that every call runs in this scope; always this one, which Dynamo guards on."""

        @functools.wraps(function, updated=())
        def scoped(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return scoped  # type: ignore[return-value]


def drop_ins(record: Record) -> tuple[DropIn, ...]:
    """
    Return the drop-in ops that avoid `record` where its program calls them by name.

    An op that takes the `ISLAND` is left out: a graph break inside of a function mode fails in Dynamo.
    """
    called = {name.split(".")[-1] for name in record.known.ops}
    found = [s for s in map(ops.spec, ops.names()) if record.id in s.records and called & {s.name, f"{s.name}_"}]
    return tuple(spec for spec in found if _strategy(spec) != ISLAND)


def offers(record: Record) -> str | None:
    """Name the drop-in ops, or None where there is none."""
    found = drop_ins(record)
    return "drop-in " + ", ".join(f"{spec.name} ({_strategy(spec)})" for spec in found) if found else None


def scope(record: Record) -> Swap:
    """Return the scope in which the ops of `record` are replaced."""
    table: dict[Any, Callable[..., Any]] = {}
    for spec in drop_ins(record):
        op = build(spec, _strategy(spec))
        for spelling in spellings(spec):
            table[spelling] = op
    return Swap(table)


def _strategy(spec: DropIn) -> str:
    chosen = ops.choice(spec.name).strategy
    return chosen if chosen != PLAIN else cheapest(spec)[0]


def spellings(spec: DropIn) -> tuple[Any, ...]:
    """Return the objects under which torch knows an op: function, tensor method, and their aliases."""
    owners = (torch, torch.Tensor, torch.nn.functional)
    found = [getattr(owner, spec.name, None) for owner in owners]
    return tuple(dict.fromkeys([spec.upstream, *spec.also, *(f for f in found if f is not None)]))
