"""Which operations of Dynamo's graphs run plainly, between compiled pieces of the rest."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.fx.passes.split_module import split_module

from compilefix.diagnosis import hook
from compilefix.registry import Record

MOST = 5000


def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> AbstractContextManager[None]:
    """Run the nodes named in ``told["plain"]`` plainly; ``told["list"]`` leaves all of them in ``seen["nodes"]``."""
    plain = frozenset(told.get("plain", ()))
    found: list[dict[str, Any]] = []
    if told.get("list"):
        seen["nodes"] = found

    def choose(number: int, gm: Any, compiler: hook.Compiler) -> hook.Compiler:
        for node in gm.graph.nodes:
            if node.op.startswith("call") and len(found) < MOST:
                key = f"{number}|{node.name}"
                found.append({"key": key, "op": hook.name_of(node), "place": hook.place_of(node)})
        if not any(f"{number}|{n.name}" in plain for n in gm.graph.nodes):
            return compiler
        return lambda graph, inputs: _split(graph, compiler, lambda n: f"{number}|{n.name}" in plain)

    return hook.each_graph(choose)


def _split(gm: Any, compiler: hook.Compiler, is_plain: Any) -> Any:
    parts: dict[Any, int] = {}
    last, part = None, 0
    for node in gm.graph.nodes:
        if node.op.startswith("call"):
            now = is_plain(node)
            part += last is not None and now != last
            last = now
            parts[node] = 2 * part + now
    split = split_module(gm, gm, lambda node: parts[node], keep_original_order=True)  # a write may return nothing
    for name, child in split.named_children():
        if name.startswith("submod_") and int(name.removeprefix("submod_")) % 2 == 0:
            setattr(split, name, _Compiled(torch.compile(child, backend=compiler, dynamic=False)))
    return split.forward


class _Compiled(torch.nn.Module):
    """A compiled piece; its parameters stay with the piece."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._call = [function]

    def forward(self, *args: Any) -> Any:
        """Run the piece."""
        return self._call[0](*args)
