"""Inside the user's program: hold each graph against the plain one on its first calls, keep the first bad one."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from compilefix.diagnosis.exchange import AHEAD, CAPTURED, GRAPH, PENDING, SEEN
from compilefix.diagnosis.hook import compiling, name_of, place_of
from compilefix.oracle.trial import UncheckedError, trial
from compilefix.oracle.twins import twin_of, twins

CALLS = 3
"""Calls of each graph that are checked."""

NOT_TAKEN = ("cache", "compile_threads", "debug", "trace", "verbose", "pgo", "suppress_errors")
"""Words in settings that say how the program is run and not what is compiled."""


class Watch:
    """What this process has seen of its graphs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ahead = AHEAD in os.environ
        """Whether each graph is kept before it is tried, because an earlier run of the program died."""

        self.graphs = 0
        self.calls = 0
        self.unchecked: list[str] = []
        self.done = False

    def told(self) -> None:
        """Leave a note of how much was looked at."""
        text = json.dumps({"graphs": self.graphs, "calls": self.calls, "unchecked": self.unchecked})
        (self.folder / f"{os.getpid()}-{SEEN}").write_text(text, encoding="utf-8")

    def keep(self, gm: torch.fx.GraphModule, inputs: tuple[Any, ...], why: str) -> None:
        """Write graph and inputs, whole or not at all; only the first bad graph of all processes is kept."""
        if self.done or (self.folder / CAPTURED).exists():
            return
        self.done = True
        self._write(CAPTURED, gm, inputs, why)

    @contextlib.contextmanager
    def trying(self, gm: torch.fx.GraphModule, inputs: tuple[Any, ...]) -> Iterator[None]:
        """Where the program is known to die, keep the graph while it is tried: what is left then is the deadly one."""
        if not self.ahead:
            yield
            return
        pending = f"{os.getpid()}-{PENDING}"
        self._write(pending, gm, inputs, "ends the process")
        try:
            yield
        finally:
            (self.folder / pending).unlink()

    def _write(self, name: str, gm: torch.fx.GraphModule, inputs: tuple[Any, ...], why: str) -> None:
        places: dict[str, list[str]] = {}
        for node in gm.graph.nodes:
            if node.op.startswith("call") and (place := place_of(node)):
                places.setdefault(name_of(node).rstrip("_"), []).append(place)
        data = f"{os.getpid()}-{GRAPH}"
        told = {"why": why, "places": places, "graph": data, "config": settings()}
        try:
            torch.save({"graph": gm, "inputs": inputs, "random": torch.get_rng_state()}, self.folder / data)
        except Exception as error:  # graphs can hold anything; then the reason is all there is
            told["failed"] = f"{type(error).__name__}: {error}"
        part = self.folder / f"{os.getpid()}.part"
        part.write_text(json.dumps(told), encoding="utf-8")
        part.rename(self.folder / name)


def settings() -> dict[str, object]:
    """Return by full name the settings that the program has changed, as far as they are literals."""
    found: dict[str, object] = {}
    for name in ("torch._dynamo.config", "torch._functorch.config", "torch._inductor.config"):
        module: Any = importlib.import_module(name)
        for line in module.codegen_config().splitlines():
            left, equals, right = line.partition(" = ")
            if not equals or not left.startswith(name) or any(word in left for word in NOT_TAKEN):
                continue
            usual = getattr(getattr(module, "_config", {}).get(left.removeprefix(f"{name}.")), "default", ...)
            with contextlib.suppress(ValueError, SyntaxError):
                value = ast.literal_eval(right)
                if value != usual:  # torch itself sets some of them, to what they are
                    found[left] = value
    return found


def install(graphs: Any, folder: str) -> None:
    """Watch what `graphs`, Dynamo's class of graphs, gives to its backend."""
    watch = Watch(Path(folder))
    inductor: Any = importlib.import_module("torch._inductor.config")
    inductor.fallback_random = True  # without it, what draws random numbers cannot be held against plain code
    name = compiling(graphs)
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
        if left > 0 and not watch.done:
            left = left - 1 if _agrees(watch, plain, compiled, args) else 0
        return compiled(*args)

    return run


def _agrees(watch: Watch, plain: torch.fx.GraphModule, compiled: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Try one call on copies; False where there is no point in trying another."""
    try:
        with watch.trying(plain, args):
            found = trial(compiled, plain.forward, args, held=plain.buffers(), same_random=True)
    except UncheckedError as error:
        watch.unchecked.append(str(error))
        watch.told()
        return False
    watch.calls += 1
    watch.told()
    found = tuple(d for d in found if d.what != "requires_grad")
    if found:
        watch.keep(plain, tuple(twins(args)), f"{found[0].what} of {found[0].leaf}")
    return not found
