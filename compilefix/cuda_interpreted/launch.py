"""Launching a kernel: its arguments, its grid in an order of ours, its memory watched."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, TensorHandle

from compilefix.cuda_interpreted import memory
from compilefix.cuda_interpreted.problems import DeviceAssertError, IllegalAccessError, InterpreterLimitError

LARGEST = 3.0e8
"""Lanes times programs beyond which a launch is refused: minutes of interpretation."""


def programs(grid: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield the program ids of `grid` in the order in which they run."""
    x, y, z = grid
    for i in range(x * y * z):
        yield i // (y * z), i // z % y, i % z


def argument(value: Any) -> Any:
    """Return a launch argument as the kernel sees it."""
    if isinstance(value, bool):
        return tl.tensor(TensorHandle(np.array([value], dtype=np.bool_), tl.int1), tl.int1)
    return interpreter._implicit_cvt(value)


def run(self: Any, *args: Any, **kwargs: Any) -> None:
    """Run the kernel of a `GridExecutor` over its grid, on the storages of its arguments themselves."""
    known = inspect.signature(self.fn).parameters
    bound = inspect.getcallargs(self.fn, *args, **{k: v for k, v in kwargs.items() if k in known})
    for hook in getattr(self, "pre_run_hooks", ()):
        hook(*args, **kwargs)
    converted = {k: v if k in self.constexprs else argument(v) for k, v in bound.items()}
    grid = self.grid(converted) if callable(self.grid) else self.grid
    grid = tuple(int(n) for n in (*grid, 1, 1, 1)[:3])
    builder = interpreter.interpreter_builder
    builder.set_grid_dim(*grid)
    name = self.fn.__name__
    with memory.watched(name, self.fn.__code__.co_filename, tensors(bound)), np.errstate(all="ignore"):
        for i, position in enumerate(programs(grid)):
            builder.set_grid_idx(*position)
            memory.program(i)
            try:
                self.fn(**converted)
            except Exception as error:
                raise explained(error, name, self.fn.__code__.co_filename) from error


def tensors(bound: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors among the arguments of a launch by the parameter's name."""
    found: dict[str, torch.Tensor] = {}
    for name, value in bound.items():
        tensor = getattr(value, "base", value) if not isinstance(value, torch.Tensor) else value
        if isinstance(tensor, torch.Tensor):
            found[name] = tensor
    return found


def explained(error: Exception, kernel: str, file: str) -> Exception:
    """Return `error` with kernel and line; one that comes from the interpreter itself as `InterpreterLimitError`."""
    frame, line, inside = error.__traceback__, "", False
    while frame is not None:
        module = frame.tb_frame.f_globals.get("__name__", "")
        inside = module == interpreter.__name__ or module.startswith(("numpy", __package__))
        if frame.tb_frame.f_code.co_filename == file:
            line = linecache.getline(file, frame.tb_lineno).strip()
        frame = frame.tb_next
    at = f"{kernel}, at {line}" if line else kernel
    if isinstance(error, DeviceAssertError | IllegalAccessError):
        return type(error)(f"{error} ({at})")
    lacks = isinstance(error, AttributeError) and "InterpreterBuilder" in str(error)
    if isinstance(error, InterpreterLimitError) or inside or lacks:
        return InterpreterLimitError(f"{type(error).__name__}: {error}", at)
    error.args = (f"{error} ({at})",)
    return error


def install() -> None:
    """Launch this way in this process."""
    GridExecutor.__call__ = run
