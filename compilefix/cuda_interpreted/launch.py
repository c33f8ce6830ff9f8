"""Launching a kernel: its arguments, its grid in an order of ours, its memory watched."""

from __future__ import annotations

import functools
import inspect
import linecache
from typing import Any

import numpy as np
import torch
import torch._inductor.runtime.triton_helpers as triton_helpers
import triton
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, TensorHandle

from compilefix.cuda_interpreted import waits, watch
from compilefix.cuda_interpreted.lanes import Lanes
from compilefix.cuda_interpreted.orders import FORWARD, Order, others
from compilefix.cuda_interpreted.problems import (
    DeviceAssertError,
    IllegalAccessError,
    InterpreterLimitError,
    TooLargeError,
)

MOST_BYTES = 1 << 28
"""Bytes of a launch's arguments up to which they are kept, so that it can be run again in another order."""

ORDER: list[Order] = [FORWARD]
"""Order in which the programs of every launch run; one entry."""


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
    interpreter.interpreter_builder.set_grid_dim(*grid)
    name, file = self.fn.__name__, self.fn.__code__.co_filename
    given = tensors(bound)
    with watch.watched(name, file, given, grid, bound) as launch, np.errstate(all="ignore"):
        count = grid[0] * grid[1] * grid[2]
        order = FORWARD if launch.source.waits else ORDER[0]
        storages = _storages(given) if count > 1 and not launch.source.waits else None
        before = _copied(storages)
        execute = functools.partial(_execute, self.fn, converted, grid, name, file)
        execute(order)
        races = launch.trace.races()
        told = ""
        if before is not None and any(not (r.both_write and watch.chosen_by_data(launch, r)) for r in races):
            launch.again = True
            told = _in_other_orders(execute, order, storages, before)
        for found in races:
            watch.race(launch, found, told)


def _execute(
    function: Any, arguments: dict[str, Any], grid: tuple[int, int, int], name: str, file: str, order: Order
) -> None:
    launch = watch.WATCH.launch
    assert launch is not None
    count, (_, y, z) = grid[0] * grid[1] * grid[2], grid
    lanes: dict[int, Lanes] = {}

    def place(i: int) -> None:
        interpreter.interpreter_builder.set_grid_idx(i // (y * z), i // z % y, i % z)
        watch.program(i)
        launch.lanes = lanes.setdefault(i, Lanes())

    def body() -> None:
        try:
            with np.errstate(all="ignore"):  # of the thread
                function(**arguments)
        except Exception as error:
            raise explained(error, name, file) from error
        watch.ended()

    if launch.source.meets and count <= waits.MOST:
        waits.run([body] * count, order.positions(count), place, launch.trace.cut)
        return
    for i in order.positions(count):
        place(i)
        body()
        del lanes[i]


def grid_barrier(*_: object) -> None:
    """Stand for Inductor's ``x_grid_barrier``: all programs of the grid meet."""
    watch.barrier()
    waits.barrier()


def _next_power_of_2(n: Any) -> int:
    return int(triton.next_power_of_2(getattr(n, "value", n)))


def _if_mask(mask: Any, value: Any) -> Any:
    return None if getattr(mask, "value", mask) is None else value


HELPERS = {"x_grid_barrier": grid_barrier, "constexpr_next_power_of_2": _next_power_of_2, "if_mask": _if_mask}
"""Helpers of Inductor that ask Triton's compiler or wait for other programs, as they are here."""


def _storages(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor] | None:
    """Return every storage once, as bytes, by the parameter that it is given as; None where they are too large."""
    found: dict[int, tuple[str, torch.Tensor]] = {}
    for name, tensor in given.items():
        storage = tensor.untyped_storage()
        if storage.nbytes():
            whole = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))
            found.setdefault(storage.data_ptr(), (name, whole))
    if sum(whole.numel() for _, whole in found.values()) > MOST_BYTES:
        return None
    return dict(found.values())


def _copied(storages: dict[str, torch.Tensor] | None) -> dict[str, torch.Tensor] | None:
    return None if storages is None else {name: whole.clone() for name, whole in storages.items()}


def _in_other_orders(execute: Any, first: Order, storages: Any, before: dict[str, torch.Tensor]) -> str:
    """Run the launch again from where it began in other orders; return in words whether it leaves the same."""
    after = {name: whole.clone() for name, whole in storages.items()}
    tried = [str(first)]
    try:
        for order in others(first):
            for name, whole in storages.items():
                whole.copy_(before[name])
            execute(order)
            tried.append(str(order))
            for name, whole in storages.items():
                differs = whole != after[name]
                if differs.any():
                    at = int(differs.to(torch.uint8).argmax())
                    return f"; {first} and {order} order leave different results, first at byte {at} of {name}"
        return f"; {', '.join(tried)} order happen to leave the same"
    finally:
        for name, whole in storages.items():
            whole.copy_(after[name])


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
    if isinstance(error, TooLargeError):
        return error
    lacks = isinstance(error, AttributeError) and "InterpreterBuilder" in str(error)
    lacks |= isinstance(error, TypeError) and any(name in str(error) for name in ("'_semantic'", "'_builder'"))
    if isinstance(error, InterpreterLimitError) or inside or lacks:
        return InterpreterLimitError(f"{type(error).__name__}: {error}", at)
    error.args = (f"{error} ({at})",)
    return error


def install() -> None:
    """Launch this way in this process."""
    helpers = vars(triton_helpers)
    helpers |= {name: helper for name, helper in HELPERS.items() if name in helpers}
    GridExecutor.__call__ = run
