"""Run one program of a repro and observe it. Only workers import this."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import inspect
import random
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from compilefix import environment
from compilefix.issue import Known
from compilefix.oracle import Observation, Raised, flatten, overlaps, raised
from compilefix.oracle.observation import walk
from compilefix.outcome import Did, Target
from compilefix.runner.protocol import Mode, Request
from compilefix.settings import MissingSettingError, patched

Compile = Callable[[Any], Any]


def load(path: Path) -> ModuleType:
    """Execute a repro file as a new module."""
    spec = importlib.util.spec_from_file_location(f"compilefix_repro_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record_of(module: ModuleType) -> Known:
    """Return the record of a loaded repro."""
    known: Known = getattr(module, "ISSUE", None) or module.CONTRACT
    return known


def missing_names(requires: tuple[str, ...]) -> list[str]:
    """Return the dotted torch names of `requires` that this torch lacks."""
    return [name for name in requires if "." in name and not environment.feature("has", name)]


GRAPH_CACHES = ("torch._inductor.config.fx_graph_cache", "torch._functorch.config.enable_autograd_cache")

CXX = "torch._inductor.config.cpp.cxx"


def caches_graphs(known: Known) -> bool:
    """Tell whether the record is about the graph caches, which must then start empty in every check."""
    return known.caches == "warm" or any(name in known.config for name in GRAPH_CACHES)


def names_compiler(known: Known) -> bool:
    """Tell whether the record chooses the C++ compiler, and so what happens without a working one."""
    return CXX in known.config


def settings(known: Known, *, workaround: bool) -> AbstractContextManager[None]:
    """Apply the record's settings (and those of its workaround); raise `MissingSettingError` for an unknown one."""
    caches = dict.fromkeys(GRAPH_CACHES, True) if known.caches == "warm" else {}
    return patched(caches | dict(known.config) | (dict(known.workaround_config) if workaround else {}))


def compiler(known: Known, target: Target) -> Compile:
    """Return the function that compiles a program for `target` as the record asks."""
    arguments: dict[str, Any] = {"backend": target.backend} | dict(known.compile)
    if target.dynamic:
        arguments["dynamic"] = True
    return lambda program: torch.compile(program, **arguments)


def use_private_caches(folder: Path) -> None:
    """
    Keep the graph caches of this process in `folder`; compiled C++ objects stay shared.

    Raises `MissingSettingError` on a torch whose graph caches cannot be told apart from the rest.
    """
    for owner, name in (
        ("torch._inductor.codecache.FxGraphCache", "fxgraph"),
        ("torch._functorch._aot_autograd.autograd_cache.AOTAutogradCache", "aotautograd"),
    ):
        module, _, attribute = owner.rpartition(".")
        cache = getattr(importlib.import_module(module), attribute, None)
        if cache is None or not hasattr(cache, "_get_tmp_dir"):
            raise MissingSettingError(f"this torch has no {owner}")
        path = str(folder / name)
        cache._get_tmp_dir = staticmethod(lambda path=path: path)


class Recorder:
    """A function that keeps a copy of everything its calls return; attributes are those of the function."""

    def __init__(self, function: Any, observation: Observation) -> None:
        self._function = function
        self._observation = observation
        self._calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function and keep a copy of the result."""
        name = f"call {self._calls}"
        self._calls += 1
        leaves = self._observation.leaves
        try:
            result = self._function(*args, **kwargs)
        except Exception:
            leaves[name] = "raised"
            raise
        leaves |= flatten(result, name)
        self._observation.overlaps |= overlaps((name, result), (f"{name} argument", args))
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def scales(module: ModuleType) -> bool:
    """Tell whether the repro says that its defect shows with smaller inputs as well: its ``inputs`` takes a `scale`."""
    return hasattr(module, "inputs") and "scale" in inspect.signature(module.inputs).parameters


def arguments(module: ModuleType, device: str, scale: float = 1.0) -> tuple[Any, ...]:
    """Return the inputs of a repro on `device`; those of one that takes a `scale` at `scale` times the full size."""
    if not hasattr(module, "inputs"):
        return ()
    return tuple(module.inputs(device, scale=scale) if scales(module) else module.inputs(device))


def observe(
    module: ModuleType, request: Request, compile: Compile | None, convert: Callable[[Any], Any] | None = None
) -> Observation:
    """
    Run the repro in `module` once and return what it leaves behind.

    Without `compile` the plain program runs. `convert` is applied to the inputs and to a module that is the program.
    """
    seed(request.seed)
    device = request.parsed_target.data_device
    observation = Observation()
    known: Known = record_of(module)
    program = entry(module, request.mode, device)
    args = arguments(module, device, request.scale)
    if convert is not None:
        args = tuple(convert(a) for a in args)
        program = convert(program) if isinstance(program, torch.nn.Module) else program
    drive = getattr(module, "drive", None)
    if request.mode is Mode.WORKAROUND:
        drive = getattr(module, "drive_workaround", drive)
    where = "the call"
    try:
        function = compile(program) if compile is not None else program
        if drive is None:
            result = function(*args)
        else:
            result = drive(function if known.random else Recorder(function, observation), *args)
        observation.leaves |= flatten(result, "result")
        for i, arg in enumerate(args):
            observation.leaves |= flatten(arg, f"input[{i}]")
        parts = [(f"input[{i}]", arg) for i, arg in enumerate(args)]
        observation.overlaps |= overlaps(("result", result), *parts)
        if drive is None:
            where = "the backward pass"
            _backward(result, request.seed)
        observation.leaves |= _gradients([*parts, ("program", program)])
        if hasattr(module, "state"):
            observation.leaves |= flatten_all(module.state())
    except Exception as error:
        observation.raised = raised(error, where)
    observation.rng = _random_state(device)
    return observation


def observe_in_float64(path: Path, request: Request) -> Observation | None:
    """Run the plain program with its floating inputs in float64; None where the inputs or the program refuse."""
    module = load(path)
    seed(request.seed)
    args = arguments(module, request.parsed_target.data_device, request.scale)
    leaves = [leaf for _, leaf in walk(args, "") if isinstance(leaf, torch.Tensor)]
    if overlaps(*((str(i), leaf) for i, leaf in enumerate(leaves))) or any(_folds(leaf) for leaf in leaves):
        return None  # a converted copy would not share memory as the inputs do
    observation = observe(module, request, None, _to_float64)
    return observation if observation.raised is None else None


def _folds(leaf: torch.Tensor) -> bool:
    return leaf.layout is torch.strided and any(
        s == 0 and n > 1 for n, s in zip(leaf.shape, leaf.stride(), strict=True)
    )


def _to_float64(value: Any) -> Any:
    if isinstance(value, torch.nn.Module):
        return value.double()
    if isinstance(value, torch.Tensor):
        wide = {True: torch.complex128, False: torch.float64}[value.is_complex()]
        if not (value.is_floating_point() or value.is_complex()) or value.dtype is wide:
            return value
        return value.detach().to(wide).requires_grad_(value.requires_grad)
    if type(value) in (tuple, list):
        return type(value)(_to_float64(item) for item in value)
    if type(value) is dict:
        return {key: _to_float64(item) for key, item in value.items()}
    return value


def entry(module: ModuleType, mode: Mode, device: str) -> Any:
    """Return what is compiled: the program of the repro, or its workaround."""
    if mode is Mode.CLAIM:
        return module.claim
    if mode is Mode.WORKAROUND:
        if hasattr(module, "make_workaround"):
            return module.make_workaround(device)
        if hasattr(module, "workaround"):
            return module.workaround
    return module.make(device) if hasattr(module, "make") else module.program


def _backward(result: Any, seed: int) -> None:
    outputs = [leaf for _, leaf in walk(result, "") if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not outputs or isinstance(result, torch.nn.Module):
        return
    generator = torch.Generator().manual_seed(seed + 1)
    cotangents = []
    for output in outputs:
        # halves up to 2, never zero: exact in every floating dtype, so float64 and bfloat16 runs see the same ones
        steps = torch.randint(1, 5, output.shape, generator=generator) / 2
        signs = torch.randint(0, 2, output.shape, generator=generator) * 2 - 1
        cotangents.append((steps * signs).to(device=output.device, dtype=output.dtype))
    torch.autograd.backward(outputs, cotangents)


def flatten_all(values: dict[str, Any]) -> dict[str, Any]:
    """Copy out what the program may have changed besides its inputs, each value under its own path."""
    leaves: dict[str, Any] = {}
    for path, value in values.items():
        leaves |= flatten(value, path)
    return leaves


def _gradients(parts: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in parts:
        for path, leaf in walk(value, name):
            if isinstance(leaf, torch.Tensor) and leaf.is_leaf and leaf.requires_grad:
                found |= flatten(leaf.grad, f"grad of {path}")
    return found


def seed(value: int) -> None:
    """Seed every generator that a program may draw from."""
    random.seed(value)
    torch.manual_seed(value)


def _random_state(device: str) -> bytes:
    states = [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if device == "cuda" else [])]
    return b"".join(bytes(state.tolist()) for state in states)


def counters() -> dict[str, Any]:
    """Return how many graphs, graph breaks and recompiles this process has seen."""
    from torch._dynamo import utils

    frames: dict[tuple[Any, Any], int] = {}
    for metric in utils.get_compilation_metrics():
        if getattr(metric, "is_forward", True) is False or metric.co_name is None:
            continue
        key = (metric.co_name, metric.co_firstlineno)
        frames[key] = frames.get(key, 0) + 1
    return {
        "graphs": int(utils.counters["stats"]["unique_graphs"]),
        "graph_breaks": int(sum(utils.counters["graph_break"].values())),
        "recompiles": sum(n - 1 for n in frames.values()),
    }


_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|Cannot allocate memory|std::bad_alloc|out of memory")
_NO_SPACE = re.compile(r"No space left on device|Read-only file system|Disk quota exceeded")
_NO_ROOM = {errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES}


def environment_trouble(error: BaseException, memory: int | None) -> str | None:
    """Return the reason when `error` comes from this machine's limits and not from the program."""
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return f"cannot write: {error.strerror}: {error.filename}"
    described = raised(error)
    trouble = raised_trouble(described, memory)
    return trouble[1] if trouble else None


def raised_trouble(error: Raised, memory: int | None, *, own_compiler: bool = False) -> tuple[Did, str] | None:
    """
    Tell an exception that the machine caused from one that the program or the compiler caused.

    With `own_compiler` the record itself names the C++ compiler, so that a missing one is what it is about.
    """
    if not own_compiler and ("InvalidCxxCompiler" in error.chain or "InvalidCxxCompiler" in error.message):
        return Did.UNSUPPORTED, "no working C++ compiler"
    if "MemoryError" in error.chain or _NO_MEMORY.search(error.message):
        cap = f" of {memory / 2**30:.1f} GiB" if memory else ""
        return Did.UNRESOLVED, f"ran over the memory limit{cap}"
    found = _NO_SPACE.search(error.message)
    return (Did.UNRESOLVED, f"the cache folder cannot be written: {found[0]}") if found else None
