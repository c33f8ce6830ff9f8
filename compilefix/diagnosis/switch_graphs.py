"""Which backend compiles which of Dynamo's graphs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from torch._dynamo.backends.registry import lookup_backend

from compilefix.diagnosis import hook
from compilefix.oracle.twins import twin_of
from compilefix.registry import Record


def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> AbstractContextManager[None]:
    """
    Compile the graphs numbered in ``told["graphs"]`` with ``told["backend"]``.

    ``told["list"]`` leaves each graph's number of operations and first line in ``seen["graphs"]``. With ``told["dry"]``
    every graph is compiled and runs plainly, so that a program whose compiled code kills it can be listed.
    """
    chosen = frozenset(told.get("graphs", ()))
    backend = hook.eager if told.get("backend", "eager") == "eager" else lookup_backend(told["backend"])
    found: list[dict[str, Any]] = []
    if told.get("list"):
        seen["graphs"] = found

    def choose(number: int, gm: Any, compiler: hook.Compiler) -> hook.Compiler:
        calls = [n for n in gm.graph.nodes if n.op.startswith("call")]
        places = [place for n in calls if (place := hook.place_of(n))]
        found.append({"graph": number, "calls": len(calls), "place": places[0] if places else None})
        taken = backend if number in chosen else compiler
        return _dry(taken) if told.get("dry") else taken

    return hook.each_graph(choose)


def _dry(compiler: hook.Compiler) -> hook.Compiler:
    def compile(gm: Any, inputs: Any) -> Any:
        plain = twin_of(gm)
        compiler(gm, inputs)
        return plain.forward

    return compile
