"""Inside the user's program: hold each graph against the plain one on its first calls, keep the first bad one."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from compilefix.diagnosis.hook import name_of, place_of
from compilefix.oracle import Observation, compare, flatten, overlaps
from compilefix.oracle.twins import twin_of, twins
from compilefix.outcome import defects

CALLS = 3
"""Calls of each graph that are checked."""

NOT_TAKEN = ("cache", "compile_threads", "debug", "trace", "verbose", "pgo", "suppress_errors")
"""Words in settings that say how the program is run and not what is compiled."""

CAPTURED = "captured.json"
SEEN = "seen.json"
GRAPH = "graph.pt"


class Watch:
    """What this process has seen of its graphs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.graphs = 0
        self.calls = 0
        self.done = False

    def told(self) -> None:
        """Leave a note of how much was looked at."""
        text = json.dumps({"graphs": self.graphs, "calls": self.calls})
        (self.folder / f"{os.getpid()}-{SEEN}").write_text(text, encoding="utf-8")

    def keep(self, gm: torch.fx.GraphModule, inputs: tuple[Any, ...], why: str) -> None:
        """Write graph and inputs, whole or not at all; only the first bad graph of all processes is kept."""
        if self.done or (self.folder / CAPTURED).exists():
            return
        self.done = True
        places: dict[str, list[str]] = {}
        for node in gm.graph.nodes:
            if node.op.startswith("call") and (place := place_of(node)):
                places.setdefault(name_of(node).rstrip("_"), []).append(place)
        told = {"why": why, "places": places, "pid": os.getpid(), "config": settings()}
        try:
            torch.save({"graph": gm, "inputs": inputs}, self.folder / GRAPH)
        except Exception as error:  # graphs can hold anything; then the reason is all there is
            told["failed"] = f"{type(error).__name__}: {error}"
        part = self.folder / f"{os.getpid()}.part"
        part.write_text(json.dumps(told), encoding="utf-8")
        part.rename(self.folder / CAPTURED)


def settings() -> dict[str, object]:
    """Return by full name the settings that the program has changed, as far as they are literals."""
    found: dict[str, object] = {}
    for name in ("torch._dynamo.config", "torch._functorch.config", "torch._inductor.config"):
        module: Any = importlib.import_module(name)
        for line in module.codegen_config().splitlines():
            left, equals, right = line.partition(" = ")
            if equals and left.startswith(name) and not any(word in left for word in NOT_TAKEN):
                with contextlib.suppress(ValueError, SyntaxError):
                    found[left] = ast.literal_eval(right)
    return found


def install(graphs: Any, folder: str) -> None:
    """Watch what `graphs`, Dynamo's class of graphs, gives to its backend."""
    watch = Watch(Path(folder))
    name = "_call_user_compiler" if hasattr(graphs, "_call_user_compiler") else "call_user_compiler"
    original = getattr(graphs, name)

    def call(self: Any, gm: Any, *rest: Any) -> Any:
        if watch.done:
            return original(self, gm, *rest)
        plain = twin_of(gm)
        watch.graphs += 1
        try:
            compiled = original(self, gm, *rest)
        except Exception as error:
            return _raising(watch, plain, error)
        return _checked(watch, plain, compiled)

    setattr(graphs, name, call)


def _raising(watch: Watch, plain: torch.fx.GraphModule, error: Exception) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        watch.keep(plain, tuple(twins(args)), f"does not compile: {type(error).__name__}")
        raise error

    return run


def _checked(watch: Watch, plain: torch.fx.GraphModule, compiled: Callable[..., Any]) -> Callable[..., Any]:
    left = CALLS

    def run(*args: Any) -> Any:
        nonlocal left
        if left <= 0 or watch.done:
            return compiled(*args)
        left -= 1
        watch.calls += 1
        watch.told()
        state = torch.get_rng_state()
        before, own = (tuple(twins(args)) for _ in range(2))
        with torch.no_grad():
            want = _observed(plain.forward, own)
        torch.set_rng_state(state)
        try:
            result = compiled(*args)
        except Exception as error:
            watch.keep(plain, before, f"raises {type(error).__name__}")
            raise
        found = [d for d in defects(compare(_seen(result, args), want)) if d.what != "requires_grad"]
        if found:
            watch.keep(plain, before, f"{found[0].what} of {found[0].leaf}")
        return result

    return run


def _observed(function: Callable[..., Any], args: tuple[Any, ...]) -> Observation:
    return _seen(function(*args), args)


def _seen(result: Any, args: tuple[Any, ...]) -> Observation:
    observation = Observation()
    observation.leaves |= flatten(tuple(result) if isinstance(result, list) else result, "result")
    for i, arg in enumerate(args):
        observation.leaves |= flatten(arg.detach() if isinstance(arg, torch.Tensor) else arg, f"input[{i}]")
    observation.overlaps |= overlaps(("result", result))
    return observation
