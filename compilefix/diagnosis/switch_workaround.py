"""A workaround, put around the program: of a known issue, or a general one."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from compilefix import ops, registry
from compilefix.ops.drop_in import PLAIN, build
from compilefix.ops.selection import cheapest
from compilefix.registry import Record
from compilefix.settings import MissingSettingError
from compilefix.workarounds import kinds
from compilefix.workarounds.kind_backend import Backend
from compilefix.workarounds.kind_island import Island
from compilefix.workarounds.kind_rewrite import ISLAND, Swap, spellings

_MADE: dict[str, Any] = {}
"""Scopes of this process: Dynamo compiles anew for every new function mode."""


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """
    Apply what `told` names; raises `MissingSettingError` where this torch does not offer it.

    ``record`` and ``kind`` (of `compilefix.workarounds`), ``drop_ins`` (names in `compilefix.ops`), ``fallback`` (ops
    that are not lowered), ``decompositions`` (ops that are not decomposed), ``backend``, ``eager``, or ``disable``
    (file and name of a function that is not compiled). Words for what it does are left in ``seen["does"]``.
    """
    with contextlib.ExitStack() as stack:
        if "record" in told:
            known = registry.read(Path(told["record"]))
            kind = kinds()[told["kind"]]
            seen["does"] = kind.offers(known)
            if seen["does"] is None:
                raise MissingSettingError(f"{known.id} has no workaround of kind {told['kind']} on this torch")
            key = f"{known.id} {told['kind']}"
            if key not in _MADE:
                _MADE[key] = kind.scope(known)
            stack.enter_context(_MADE[key])
        if "drop_ins" in told:
            key = " ".join(told["drop_ins"])
            if key not in _MADE:
                _MADE[key] = _swap(told["drop_ins"], seen)
            stack.enter_context(_MADE[key])
        if "fallback" in told:
            stack.enter_context(_fallback(told["fallback"]))
        if "decompositions" in told:
            stack.enter_context(_undecomposed(told["decompositions"]))
        if "backend" in told:
            stack.enter_context(Backend(told["backend"]))
        if "eager" in told:
            stack.enter_context(Island())
        if "disable" in told:
            stack.enter_context(_disabled(*told["disable"]))
        yield


def _swap(names: list[str], seen: dict[str, Any]) -> Swap:
    table: dict[Any, Any] = {}
    words = []
    for name in names:
        spec = ops.spec(name)
        chosen = ops.choice(name).strategy
        strategy = chosen if chosen != PLAIN else cheapest(spec)[0]
        if strategy in (PLAIN, ISLAND):
            raise MissingSettingError(f"no strategy of {name} stays in the graph")
        words.append(f"{name} ({strategy})")
        seen.setdefault("strategies", {})[name] = [strategy, chosen != PLAIN]
        table |= dict.fromkeys(spellings(spec), build(spec, strategy))
    seen["does"] = f"drop-in {', '.join(words)}"
    return Swap(table)


def _overload(text: str) -> Any:
    found: Any = torch.ops
    for part in text.split("."):
        found = getattr(found, part)
    return found


@contextlib.contextmanager
def _fallback(names: list[str]) -> Iterator[None]:
    from torch._inductor.lowering import fallback_handler, lowerings

    handler: Any = fallback_handler
    targets = [_overload(name) for name in names]
    before = {target: lowerings[target] for target in targets if target in lowerings}
    for target in targets:
        lowerings[target] = handler(target, add_to_fallback_set=False)
    try:
        yield
    finally:
        for target in targets:
            del lowerings[target]
        lowerings.update(before)


@contextlib.contextmanager
def _undecomposed(names: list[str]) -> Iterator[None]:
    from torch._inductor import decomposition

    tables: list[Any] = [decomposition.decompositions]
    if hasattr(decomposition, "fast_random_decomps"):
        tables.append(decomposition.fast_random_decomps())
    targets = [_overload(name) for name in names]
    before = [(table, target, table.pop(target)) for table in tables for target in targets if target in table]
    try:
        yield
    finally:
        for table, target, function in before:
            table[target] = function


@contextlib.contextmanager
def _disabled(file: str, name: str) -> Iterator[None]:
    """Take one function or method of the user's file out of the graph, as ``torch.compiler.disable`` does."""
    loaded = [m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file]
    module = next((m for m in loaded if m.__name__.startswith("compilefix_subject_")), loaded[0] if loaded else None)
    *path, last = name.split(".")
    owner: Any = module
    for part in path:
        owner = getattr(owner, part, None)
    if owner is None or not hasattr(owner, last):
        raise MissingSettingError(f"{file} has no {name} that can be taken out")
    disable: Any = torch.compiler.disable
    with mock.patch.object(owner, last, disable(getattr(owner, last))):
        yield
