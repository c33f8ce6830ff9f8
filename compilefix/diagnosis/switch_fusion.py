"""Which of Inductor's buffers may share a kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from torch._inductor.scheduler import Scheduler

from compilefix.diagnosis.switch_sites import base_name
from compilefix.registry import Record

MOST = 4000


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """
    Keep buffers apart.

    `told` has ``none`` (nothing is fused), ``alone`` (names of buffers that are fused with nothing), ``pairs`` (names
    that do not share a kernel), and ``list``, which leaves the pairs that were allowed in ``seen["pairs"]``.
    """
    alone = frozenset(told.get("alone", ()))
    apart = frozenset(frozenset(pair) for pair in told.get("pairs", ()))
    found: dict[tuple[str, str], list[str]] = {}
    graphs: dict[int, int] = {}
    original = Scheduler.can_fuse

    def names(scheduler: Any, node: Any) -> list[str]:
        graph = graphs.setdefault(id(scheduler), len(graphs))
        return [f"{graph}|{n.get_name()}" for n in node.get_nodes()]

    def can_fuse(self: Any, node1: Any, node2: Any, *args: Any, **kwargs: Any) -> bool:
        if told.get("none"):
            return False
        first, second = names(self, node1), names(self, node2)
        if alone.intersection(first) or alone.intersection(second):
            return False
        if apart and any(frozenset((a, b)) in apart for a in first for b in second):
            return False
        allowed = bool(original(self, node1, node2, *args, **kwargs))
        if allowed and told.get("list") and len(found) < MOST:
            for a, x in zip(first, node1.get_nodes(), strict=True):
                for b, y in zip(second, node2.get_nodes(), strict=True):
                    found[a, b] = [_ops(x), _ops(y)]
        return allowed

    try:
        with mock.patch.object(Scheduler, "can_fuse", can_fuse):
            yield
    finally:
        if told.get("list"):
            seen["pairs"] = [{"pair": list(pair), "ops": ops} for pair, ops in found.items()]


def _ops(node: Any) -> str:
    origins = getattr(getattr(node, "node", None), "origins", None) or ()
    names = [base_name(str(n.target)) for n in origins if getattr(n, "op", "") == "call_function"]
    return "+".join(dict.fromkeys(names)) or str(node.get_name())
