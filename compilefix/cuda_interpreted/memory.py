"""Every load and store of a kernel, held against the storages of the arguments it was given."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, _get_np_dtype
from triton.runtime.interpreter import _interpreter as raw

from compilefix.cuda_interpreted.problems import IllegalAccessError
from compilefix.cuda_interpreted.races import ATOMIC, READ, WRITE, Race, Trace

Array = Any


@dataclass(frozen=True)
class Finding:
    """Something that a kernel did to memory and must not do."""

    what: str
    """``out-of-bounds`` or ``race``."""

    kernel: str
    line: str
    detail: str
    note: bool = False
    """True where the program itself may ask for it, as an indexed write with an index twice does."""

    def __str__(self) -> str:
        return f"{self.detail} in {self.kernel}, at {self.line}"


@dataclass
class Launch:
    """One running launch: which addresses belong to it."""

    kernel: str
    file: str
    names: list[str]
    starts: Array
    ends: Array
    trace: Trace = field(default_factory=Trace)
    program: int = 0
    """Position in the grid of the program that runs."""


@dataclass
class Watch:
    """What was found since `reset`."""

    findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)
    launch: Launch | None = None
    kernels: int = 0
    moved: dict[str, list[int]] = field(default_factory=dict)
    """Bytes read and written by kernel."""


WATCH = Watch()


def reset() -> None:
    """Forget all findings."""
    WATCH.findings.clear()
    WATCH.kernels = 0
    WATCH.moved.clear()


def findings() -> tuple[Finding, ...]:
    """Return what was found since `reset`, one of each kind and line."""
    return tuple(WATCH.findings.values())


@contextlib.contextmanager
def watched(kernel: str, file: str, tensors: dict[str, torch.Tensor]) -> Iterator[None]:
    """Let the block, one launch of `kernel`, touch the storages of `tensors` and nothing else, and look for races."""
    spans: dict[int, tuple[int, list[str]]] = {}
    for name, tensor in tensors.items():
        storage = tensor.untyped_storage()
        if tensor._is_zerotensor():
            raise IllegalAccessError(f"an illegal memory access: argument {name} of {kernel} has no memory")
        if storage.nbytes():
            spans.setdefault(storage.data_ptr(), (storage.nbytes(), []))[1].append(name)
    ordered = sorted((start, start + size, " = ".join(names)) for start, (size, names) in spans.items())
    before = WATCH.launch
    WATCH.launch = Launch(
        kernel,
        file,
        [name for _, _, name in ordered],
        np.array([start for start, _, _ in ordered], dtype=np.uint64),
        np.array([end for _, end, _ in ordered], dtype=np.uint64),
    )
    WATCH.kernels += 1
    try:
        yield
        for race in WATCH.launch.trace.races():
            _race(WATCH.launch, race)
    finally:
        WATCH.launch = before


def program(position: int) -> None:
    """Say which program of the grid runs now."""
    assert WATCH.launch is not None
    WATCH.launch.program = position


def _race(launch: Launch, race: Race) -> None:
    at = int(np.searchsorted(launch.starts, np.uint64(race.address), side="right")) - 1
    place = f"byte {race.address - int(launch.starts[at])} of {launch.names[at]}"
    verb = "writes" if race.both_write else "reads"
    line = linecache.getline(launch.file, race.line).strip()
    detail = f"program {race.second} {verb} {place}, which program {race.first} writes, in no order"
    key = ("race", verb, launch.kernel, line)
    WATCH.findings.setdefault(key, Finding("race", launch.kernel, line, detail, note=race.both_write))


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


def note(what: str, detail: str) -> None:
    """Record a finding at the line of the kernel that is running."""
    launch = WATCH.launch
    assert launch is not None
    line = where(launch.file)
    WATCH.findings.setdefault((what, launch.kernel, line), Finding(what, launch.kernel, line, detail))


def where(file: str) -> str:
    """Return the text of the running line of the kernel in `file`."""
    line = number(file)
    return linecache.getline(file, line).strip() or f"line {line}"


def load(self: Any, pointers: Any, mask: Any, other: Any, *_: object, **__: object) -> Any:
    """Load the lanes of `mask` that lie inside; the others get `other`, or zero."""
    ty = pointers.get_element_ty()
    numpy_type = _get_np_dtype(ty)
    default = np.zeros(pointers.data.shape, dtype=numpy_type) if other is None else other.data
    lanes = allowed(pointers.data, _lanes(mask), numpy_type.itemsize, "reads")
    _keep(READ, pointers.data, lanes, numpy_type.itemsize)
    return TensorHandle(raw.load(pointers.data, lanes, default, numpy_type), ty)


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
    bits = None
    moved = WATCH.moved.setdefault(launch.kernel, [0, 0])
    moved[kind != READ] += int(lanes.sum()) * size
    if data is not None:
        unsigned = np.ascontiguousarray(np.broadcast_to(data, np.shape(lanes))).view(f"u{data.dtype.itemsize}")
        bits = unsigned[lanes].astype(np.uint64)
    launch.trace.add(kind, launch.program, number(launch.file), np.asarray(pointers)[lanes], bits)


def number(file: str) -> int:
    """Return the number of the running line of the kernel in `file`, 0 where none runs."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0


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
    return _rmw(self, operation, pointers, each, TensorHandle(np.ascontiguousarray(lanes), mask.dtype), *rest)


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
