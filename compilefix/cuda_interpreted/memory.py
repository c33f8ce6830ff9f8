"""Every load and store of a kernel, held against the storages of the arguments it was given."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, _get_np_dtype
from triton.runtime.interpreter import _interpreter as raw

from compilefix.cuda_interpreted.problems import IllegalAccessError, InterpreterLimitError
from compilefix.cuda_interpreted.races import ATOMIC, READ, WRITE
from compilefix.cuda_interpreted.watch import WATCH, Finding, Launch, barrier, findings, note, number, reset

__all__ = ["WATCH", "Finding", "allowed", "atomic", "findings", "install", "load", "reset", "store", "swap"]

Array = Any

SPINS = 2000
"""Atomic operations in a row that find the same, after which a program is taken to wait for one that comes later."""


def allowed(pointers: Array, mask: Array, size: int, verb: str) -> Array:
    """Return `mask` without the lanes whose `size` bytes at `pointers` lie outside; those become findings."""
    launch = WATCH.launch
    if launch is None or not mask.any():
        return mask
    if len(launch.starts) == 0:
        inside = np.zeros(np.shape(pointers), dtype=bool)
        nearest = None
    else:
        nearest = np.searchsorted(launch.starts, pointers, side="right").astype(np.int64) - 1
        at = np.maximum(nearest, 0)
        inside = (nearest >= 0) & (pointers + np.uint64(size) <= launch.ends[at])
    bad = mask & ~inside
    if bad.any():
        _out_of_bounds(launch, pointers, bad, size, verb)
        return mask & inside
    return mask


def _out_of_bounds(launch: Launch, pointers: Array, bad: Array, size: int, verb: str) -> None:
    address = int(pointers[np.unravel_index(int(np.argmax(bad)), bad.shape)])
    count = int(bad.sum())
    if len(launch.starts):
        centre = np.minimum(
            np.abs(launch.starts.astype(np.int64) - address), np.abs(launch.ends.astype(np.int64) - address)
        )
        nearest = int(np.argmin(centre))
        offset = (address - int(launch.starts[nearest])) // size
        length = (int(launch.ends[nearest]) - int(launch.starts[nearest])) // size
        place = f"element {offset} of {launch.names[nearest]}, which has {length}"
    else:
        place = "memory, and the kernel was given none"
    note("out-of-bounds", f"{verb} {place} ({count} such lanes in one block)")


def load(self: Any, pointers: Any, mask: Any, other: Any, *_: object, **__: object) -> Any:
    """Load the lanes of `mask` that lie inside; the others get `other`, or zero."""
    ty = pointers.get_element_ty()
    numpy_type = _get_np_dtype(ty)
    default = np.zeros(pointers.data.shape, dtype=numpy_type) if other is None else other.data
    lanes = allowed(pointers.data, _lanes(mask), numpy_type.itemsize, "reads")
    _keep(READ, pointers.data, lanes, numpy_type.itemsize)
    data = raw.load(pointers.data, lanes, default, numpy_type)
    if WATCH.launch is not None and WATCH.launch.buffers:
        _unwritten(WATCH.launch, pointers.data, lanes, data)
    return TensorHandle(data, ty)


def _unwritten(launch: Launch, pointers: Array, lanes: Array, data: Array) -> None:
    at, loaded = np.asarray(pointers)[lanes], np.asarray(data)[lanes]
    for buffer in launch.buffers:
        inside = (at >= buffer.start) & (at < buffer.start + len(buffer.written))
        if not inside.any() or launch.again:
            continue
        bad = buffer.untouched(at[inside], loaded[inside])
        if bad.any():
            address = int(at[inside][int(np.argmax(bad))])
            element = (address - buffer.start) // data.dtype.itemsize
            named = launch.place(address).partition(" of ")[2]
            note("uninitialised", f"reads element {element} of {named}, which nothing has written")


def store(self: Any, pointers: Any, value: Any, mask: Any, *_: object, **__: object) -> Any:
    """Store the lanes of `mask` that lie inside."""
    numpy_type = _get_np_dtype(pointers.get_element_ty())
    lanes = allowed(pointers.data, _lanes(mask), numpy_type.itemsize, "writes")
    data = value.data if value.data.dtype == numpy_type else value.data.astype(numpy_type)
    _keep(WRITE, pointers.data, lanes, numpy_type.itemsize, data)
    return raw.store(pointers.data, data, lanes)


def _keep(kind: int, pointers: Array, lanes: Array, size: int, data: Array | None = None) -> None:
    launch = WATCH.launch
    if launch is None:
        return
    launch.meter.tick()
    at = np.asarray(pointers)[lanes]
    if kind != READ:
        for buffer in launch.buffers:
            inside = (at >= buffer.start) & (at < buffer.start + len(buffer.written))
            if inside.any():
                buffer.wrote(at[inside], size)
    if launch.again:
        return
    moved = WATCH.moved.setdefault(launch.kernel, [0, 0])
    moved[kind != READ] += len(at) * size
    bits = None
    if data is not None:
        unsigned = np.ascontiguousarray(np.broadcast_to(data, np.shape(lanes))).view(f"u{data.dtype.itemsize}")
        bits = unsigned[lanes].astype(np.uint64)
    line = number(launch.file)
    launch.trace.add(kind, launch.program, line, at, bits)
    launch.lanes.add(kind, line, pointers, lanes)


def _lanes(mask: Any) -> Array:
    return mask if isinstance(mask, np.ndarray) else mask.data


_rmw = InterpreterBuilder.create_atomic_rmw
_cas = InterpreterBuilder.create_atomic_cas


def atomic(self: Any, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
    """Read, modify and write the lanes of `mask` that lie inside, atomically."""
    size = _get_np_dtype(pointers.get_element_ty()).itemsize
    lanes = allowed(pointers.data, _lanes(mask), size, "updates")
    _keep(ATOMIC, pointers.data, lanes, size)
    if WATCH.launch is not None and "RELAXED" not in str(rest[0]):
        WATCH.launch.trace.orders = True
    if pointers.get_element_ty() == tl.bfloat16 and "FADD" in str(operation):
        return TensorHandle(_added(pointers.data, value.data, lanes), tl.bfloat16)
    # one value for all lanes comes as a view of stride zero, of which the interpreter would read what lies behind it
    each = TensorHandle(np.ascontiguousarray(np.broadcast_to(value.data, np.shape(lanes))), value.dtype)
    where = TensorHandle(np.ascontiguousarray(lanes), mask.dtype)
    return _waits(pointers, _rmw(self, operation, pointers, each, where, *rest))


def swap(self: Any, pointers: Any, compared: Any, value: Any, *rest: Any) -> Any:
    """Compare and swap, where every lane lies inside."""
    size = _get_np_dtype(pointers.get_element_ty()).itemsize
    everywhere = np.ones(np.shape(pointers.data), dtype=bool)
    lanes = allowed(pointers.data, everywhere, size, "updates")
    if not lanes.all():
        raise IllegalAccessError("an illegal memory access by an atomic operation")
    _keep(ATOMIC, pointers.data, lanes, size)
    if WATCH.launch is not None and "RELAXED" not in str(rest[0] if rest else ""):
        WATCH.launch.trace.orders = True
    return _waits(pointers, _cas(self, pointers, compared, value, *rest))


def _waits(pointers: Any, found: Any) -> Any:
    """Return `found`; raise `InterpreterLimitError` where a program waits for one that has not begun."""
    launch = WATCH.launch
    if launch is not None and launch.trace.orders and np.size(found.data) == 1:
        seen = int(np.ravel(pointers.data)[0]), hash(found.data.tobytes())
        spins = launch.spins[2] + 1 if launch.spins[:2] == seen else 0
        launch.spins = (*seen, spins)
        if spins > SPINS:
            raise InterpreterLimitError("programs that wait for each other, which run one after the other here")
    return found


def _added(pointers: Array, value: Array, lanes: Array) -> Array:
    """Add bfloat16 `value` lane by lane, which the interpreter cannot; return what each lane found."""
    before = np.zeros(np.shape(lanes), dtype=np.uint16)
    value = np.broadcast_to(value, before.shape)
    one = np.ones(1, dtype=bool)
    for place in zip(*np.nonzero(lanes), strict=True):
        at = np.array([pointers[place]], dtype=np.uint64)
        before[place] = raw.load(at, one, np.zeros(1, np.uint16), np.dtype(np.uint16))[0]
        pair = np.array([before[place], value[place]], dtype=np.uint16)
        total = torch.from_numpy(pair.view(np.int16)).view(torch.bfloat16).sum(dtype=torch.float32).to(torch.bfloat16)
        raw.store(at, total.reshape(1).view(torch.int16).numpy().view(np.uint16), one)
    return before


def install() -> None:
    """Watch the memory of this process's kernels."""
    InterpreterBuilder.create_masked_load = load
    InterpreterBuilder.create_masked_store = store
    InterpreterBuilder.create_atomic_rmw = atomic
    InterpreterBuilder.create_atomic_cas = swap
    InterpreterBuilder.create_barrier = barrier
    for name in ("dot", "dot_scaled", "trans", "reshape", "join", "split", "cat", "histogram", "gather"):
        if hasattr(InterpreterBuilder, f"create_{name}"):
            setattr(InterpreterBuilder, f"create_{name}", _across(getattr(InterpreterBuilder, f"create_{name}")))
    for operations in (interpreter.ReduceOps, interpreter.ScanOps):
        operations.apply = _across(operations.apply)


def _across(operation: Any) -> Any:
    """Return `operation`, which moves data from lane to lane, with the barrier that it is."""

    @functools.wraps(operation)
    def moving(*args: Any, **kwargs: Any) -> Any:
        barrier()
        return operation(*args, **kwargs)

    return moving
