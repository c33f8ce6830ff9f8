"""What kernels did to memory that they must not do: the launch that runs, and what was found."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from compilefix.cuda_interpreted import poison, source
from compilefix.cuda_interpreted.lanes import Lanes, Overlap
from compilefix.cuda_interpreted.problems import IllegalAccessError
from compilefix.cuda_interpreted.races import Race, Trace
from compilefix.cuda_interpreted.size import Meter

Array = Any


@dataclass(frozen=True)
class Finding:
    """Something that a kernel did to memory and must not do."""

    what: str
    """``out-of-bounds``, ``race`` or ``uninitialised``."""

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
    source: source.Source
    grid: tuple[int, ...]
    meter: Meter
    buffers: list[poison.Buffer] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    lanes: Lanes = field(default_factory=Lanes)
    program: int = 0
    """Position in the grid of the program that runs."""

    again: bool = False
    """Whether this launch was run before, in another order: then nothing is counted or judged."""

    spins: tuple[int, int, int] = (0, 0, 0)
    """Address and bits that the last atomic operation found, and how often in a row."""

    def place(self, address: int) -> str:
        """Name the byte at `address`."""
        at = int(np.searchsorted(self.starts, np.uint64(address), side="right")) - 1
        return f"byte {address - int(self.starts[at])} of {self.names[at]}"

    def named(self, program: int) -> str:
        """Name a program: its id in a grid of one dimension, else its ids."""
        _, y, z = self.grid
        ids = (program // (y * z), program // z % y, program % z)
        return str(ids[0]) if y == z == 1 else str(ids[: 2 if z == 1 else 3])


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
def watched(
    kernel: str,
    file: str,
    tensors: dict[str, torch.Tensor],
    grid: tuple[int, ...] = (1, 1, 1),
    values: dict[str, Any] | None = None,
) -> Iterator[Launch]:
    """
    Let the block, one launch of `kernel`, touch the storages of `tensors` and nothing else.

    `values` are all arguments of the launch; those that are numbers tell how long its loops are.
    """
    spans: dict[int, tuple[int, list[str]]] = {}
    for name, tensor in tensors.items():
        storage = tensor.untyped_storage()
        if tensor._is_zerotensor():
            raise IllegalAccessError(f"an illegal memory access: argument {name} of {kernel} has no memory")
        if storage.nbytes():
            spans.setdefault(storage.data_ptr(), (storage.nbytes(), []))[1].append(name)
    ordered = sorted((start, start + size, " = ".join(names)) for start, (size, names) in spans.items())
    buffers = {start: buffer for start, _, _ in ordered if (buffer := poison.alive(start)) is not None}
    before = WATCH.launch
    written = source.read(file, kernel)
    WATCH.launch = Launch(
        kernel,
        file,
        [name + (f" ({buffers[start].name})" if start in buffers else "") for start, _, name in ordered],
        np.array([start for start, _, _ in ordered], dtype=np.uint64),
        np.array([end for _, end, _ in ordered], dtype=np.uint64),
        written,
        grid,
        Meter(kernel, grid[0] * grid[1] * grid[2], written.trips(values or {})),
        list(buffers.values()),
    )
    WATCH.kernels += 1
    try:
        yield WATCH.launch
    finally:
        WATCH.launch = before


def program(position: int) -> None:
    """Say which program of the grid runs now."""
    assert WATCH.launch is not None
    WATCH.launch.program = position
    WATCH.launch.spins = (0, 0, 0)


def ended() -> None:
    """Say that the running program has come to its end."""
    launch = WATCH.launch
    assert launch is not None
    for overlap in launch.lanes.end(launch.program):
        if not launch.again:
            _overlap(launch, overlap)


def barrier(*_: object) -> None:
    """All threads of the running program meet."""
    if WATCH.launch is not None:
        WATCH.launch.lanes.barrier()


def _overlap(launch: Launch, overlap: Overlap) -> None:
    """
    Keep a load and a store that no barrier separates.

    Two cases are notes: a block within one warp, and one lane that several threads load because the block is larger,
    where Inductor trusts that they have.
    """
    line = linecache.getline(launch.file, overlap.write_line).strip()
    read = linecache.getline(launch.file, overlap.read_line).strip()
    note = overlap.warp or overlap.same_lane
    place = launch.place(overlap.address)
    detail = (
        f"program {launch.named(overlap.program)} stores to {place}, which other threads of it load at {read}, "
        "with no barrier between"
    )
    key = ("race", "barrier", launch.kernel, line)
    WATCH.findings.setdefault(key, Finding("race", launch.kernel, line, detail, note=note))


def race(launch: Launch, found: Race, orders: str = "") -> None:
    """Keep a conflict of two programs, with what running them in other `orders` left."""
    verb = "writes" if found.both_write else "reads"
    line = linecache.getline(launch.file, found.line).strip()
    note = found.both_write and chosen_by_data(launch, found)
    who = f"program {launch.named(found.second)} {verb} {launch.place(found.address)}, which "
    if found.first == found.second:
        who += "another lane of it writes with another value in the same store"
    else:
        who += f"program {launch.named(found.first)} writes"
        if found.first_line != found.line:
            who += f" at {linecache.getline(launch.file, found.first_line).strip()}"
        who += ", in no order"
    key = ("race", verb, launch.kernel, line)
    kept = WATCH.findings.get(key)
    if kept is None or (kept.note and not note):
        WATCH.findings[key] = Finding("race", launch.kernel, line, who + orders, note=note)


def chosen_by_data(launch: Launch, found: Race) -> bool:
    """
    Tell whether two writes meet because an index that was loaded says so.

    ``index_put`` and ``scatter`` with an index that occurs twice ask for it themselves: which value stays is undefined
    in the plain program on a GPU as well.
    """
    return launch.source.indirect(found.first_line) or launch.source.indirect(found.line)


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


def number(file: str) -> int:
    """Return the number of the running line of the kernel in `file`, 0 where none runs."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0
