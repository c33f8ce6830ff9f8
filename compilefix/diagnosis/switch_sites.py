"""
The places at which torch asks whether to apply a decomposition, a pass or a lowering.

Torch's own bisector answers them with "the first n"; here any set of them can be off, so that several probes side by
side can search for sets.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch._inductor.compiler_bisector import CompilerBisector
from torch.fx.passes.graph_transform_observer import GraphTransformObserver

from compilefix.diagnosis.places import user_line
from compilefix.registry import Record

MOST = 20_000
"""Sites that are listed."""

OTHER = "passes"
"""Passes that torch gives no subsystem."""


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """
    Turn sites off, and list all there are.

    `told` has ``off``, names as in ``seen["sites"]`` or ``subsystem|*`` for all of one, and ``list``.
    """
    off, listing = frozenset(told.get("off", ())), bool(told.get("list"))
    counts: Counter[str] = Counter()
    found: list[dict[str, Any]] = []
    if listing:
        seen["sites"] = found

    def disabled(backend: str, subsystem: str, debug_info: Callable[[], str] | None = None) -> bool:
        node = _closed_over(debug_info)
        text = _text(debug_info, node)
        counts[f"{subsystem}|{text}"] += 1
        key = f"{subsystem}|{text}|{counts[f'{subsystem}|{text}']}"
        if listing and len(found) < MOST:
            told = {"key": key, "subsystem": subsystem, "op": _op(text, node), "place": _place(node)}
            found.append(told | ({"target": str(node.target)} if isinstance(node, torch.fx.Node) else {}))
        return key in off or f"{subsystem}|*" in off

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(CompilerBisector, "disable_subsystem", staticmethod(disabled)))
        check = GraphTransformObserver.__dict__.get("_check_disable_pass")
        if check is not None:

            def checked(self: Any) -> bool:
                if self.subsystem is None and disabled("inductor", OTHER, lambda: str(self.passname)):
                    return True
                return bool(check(self))

            stack.enter_context(mock.patch.object(GraphTransformObserver, "_check_disable_pass", checked))
        yield


def _closed_over(debug_info: Callable[[], str] | None) -> Any:
    """Return the node or op that torch's callback closes over; None where it closes over something else."""
    for cell in getattr(debug_info, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            if isinstance(cell.cell_contents, torch.fx.Node | torch._ops.OpOverload):
                return cell.cell_contents
    return None


def _text(debug_info: Callable[[], str] | None, node: Any) -> str:
    if isinstance(node, torch._ops.OpOverload):
        return str(node)
    return debug_info() if debug_info is not None else ""


def _op(text: str, node: Any) -> str:
    name = str(node.target) if isinstance(node, torch.fx.Node) else text
    return base_name(name) if isinstance(node, torch.fx.Node | torch._ops.OpOverload) else text


def base_name(name: str) -> str:
    """Return ``relu`` for ``aten.relu_.default``."""
    match = re.fullmatch(r"(?:\w+\.)?(\w+?)_?\.\w+", name)
    return match[1] if match else name


def _place(node: Any) -> str | None:
    if isinstance(node, torch.fx.Node):
        return user_line(node.meta.get("stack_trace"))
    meta: dict[str, Any] = torch.fx.traceback.get_current_meta()
    return user_line(meta.get("stack_trace"))
