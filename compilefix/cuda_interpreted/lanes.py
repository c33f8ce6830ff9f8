"""
Do two threads of one program touch one address, one of them writing, with no barrier between?

A block is loaded by many threads, and a load that is smaller than the program's block by several threads each lane.
One of them may still be reading when another one stores. The interpreter runs a block's operations one after the other
and never shows it. What moves data across lanes (reductions, scans, products, transpositions) counts as a barrier.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compilefix.cuda_interpreted.races import READ, WRITE

Array = Any

WARP = 32
"""Threads that run in step."""


@dataclass(frozen=True)
class Overlap:
    """A load and a store of one address by different threads of one program."""

    address: int
    program: int
    read_line: int
    write_line: int
    warp: bool
    """Whether the block is no larger than a warp, whose threads load together before they store."""

    same_lane: bool
    """Whether both are of one lane, which several threads load because the block is larger, and one of them stores."""


@dataclass(frozen=True)
class _Access:
    kind: int
    line: int
    addresses: Array
    lanes: Array
    """Position of each address in the block."""

    shape: tuple[int, ...]
    epoch: int


@dataclass
class Lanes:
    """The plain accesses of the program that runs, and the barriers between them."""

    accesses: list[_Access] = field(default_factory=list)
    epoch: int = 0

    def add(self, kind: int, line: int, pointers: Array, mask: Array) -> None:
        """Keep one load or store of the lanes of `mask`."""
        if kind not in (READ, WRITE):
            return
        shape = np.shape(mask)
        lanes = np.flatnonzero(mask)
        if len(lanes):
            self.accesses.append(_Access(kind, line, np.ravel(pointers)[lanes], lanes, shape, self.epoch))

    def barrier(self) -> None:
        """All threads of the program have come here."""
        self.epoch += 1

    def end(self, program: int) -> list[Overlap]:
        """Return the overlaps of the program that ends, one of each pair of lines, and forget its accesses."""
        accesses, self.accesses, self.epoch = self.accesses, [], 0
        whole = max((int(np.prod(a.shape)) for a in accesses), default=1)
        reads = [a for a in accesses if a.kind == READ]
        found: dict[tuple[int, int], Overlap] = {}
        for write in (a for a in accesses if a.kind == WRITE):
            low, high = write.addresses.min(), write.addresses.max()
            for read in reads:
                key = read.line, write.line
                if read.epoch != write.epoch or key in found:
                    continue
                if read.addresses.max() < low or read.addresses.min() > high:
                    continue
                if (met := _met(read, write, whole)) is not None:
                    found[key] = Overlap(met[0], program, read.line, write.line, whole <= WARP, met[1])
        return list(found.values())


def _met(read: _Access, write: _Access, whole: int) -> tuple[int, bool] | None:
    """Return an address that one thread reads and another one writes, and whether it is the same lane; or None."""
    order = np.argsort(write.addresses, kind="stable")
    addresses = write.addresses[order]
    at = np.minimum(np.searchsorted(addresses, read.addresses), len(addresses) - 1)
    hit = addresses[at] == read.addresses
    sizes = int(np.prod(read.shape)), int(np.prod(write.shape))
    apart = hit & ((write.lanes[order][at] != read.lanes) | (sizes[0] != sizes[1]))
    if apart.any():
        return int(read.addresses[int(np.argmax(apart))]), False
    replicated = sizes[0] < whole
    return (int(read.addresses[int(np.argmax(hit))]), True) if replicated and hit.any() else None
