"""The moment at which Dynamo hands a graph to its backend, for switches that act on whole graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from torch._dynamo.output_graph import OutputGraph

from compilefix.diagnosis.places import user_line

Compiler = Callable[[Any, Any], Any]
Choose = Callable[[int, Any, Compiler], Compiler]
"""Number of the graph in this process, the graph, its backend; returns the backend to take."""


@contextlib.contextmanager
def each_graph(choose: Choose) -> Iterator[None]:
    """Let `choose` decide which backend compiles each of Dynamo's graphs; backends that compile again are let alone."""
    name = compiling(OutputGraph)
    original = getattr(OutputGraph, name)
    count, inside = 0, False

    def chosen(self: Any, gm: Any, *rest: Any) -> Any:
        nonlocal count, inside
        if inside:
            return original(self, gm, *rest)
        before = self.compiler_fn
        self.compiler_fn = choose(count, gm, before)
        count += 1
        inside = True
        try:
            return original(self, gm, *rest)
        finally:
            inside = False
            self.compiler_fn = before

    with mock.patch.object(OutputGraph, name, chosen):
        yield


def compiling(graphs: Any) -> str:
    """Return the name that this release gives to the method in which `graphs` hands a graph to its backend."""
    return next(name for name in ("_call_user_compiler", "call_user_compiler") if hasattr(graphs, name))


def eager(gm: Any, inputs: Any) -> Any:
    """Run a graph as it is."""
    return gm.forward


def place_of(node: Any) -> str | None:
    """Return the user's line that a node comes from."""
    return user_line(node.meta.get("stack_trace"))


def name_of(node: Any) -> str:
    """Return the op of a node, as people write it: ``relu``, ``copy_``, ``getitem``."""
    target = node.target
    if node.op == "call_method":
        return str(target)
    if node.op == "call_module":
        return str(target)
    packet = getattr(target, "overloadpacket", None)
    name = getattr(packet or target, "__name__", str(target))
    return str(name)
