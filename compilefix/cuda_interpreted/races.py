"""Do two programs of one launch touch one address, one of them writing, with nothing that orders them?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
READ, WRITE, ATOMIC = range(3)

MOST = 1 << 23
"""Addresses of one launch that are kept; a launch with more is not judged."""


@dataclass(frozen=True)
class Race:
    """A conflict between two programs."""

    address: int
    first: int
    """Program that writes, as a position in the grid."""

    second: int
    line: int
    """Line of the second program's access."""

    both_write: bool


@dataclass
class Trace:
    """Every access of one launch, program by program."""

    accesses: list[tuple[int, int, int, Array, Array | None]] = field(default_factory=list)
    """Kind, program, line, addresses, and for writes the bits that were written."""

    addresses: int = 0
    orders: bool = False
    """Whether an atomic operation of the launch acquires or releases, so that programs may wait for each other."""

    def add(self, kind: int, program: int, line: int, addresses: Array, bits: Array | None = None) -> None:
        """Keep one access."""
        self.addresses += len(addresses)
        if self.addresses <= MOST:
            self.accesses.append((kind, program, line, addresses, bits))

    @property
    def whole(self) -> bool:
        """Whether every access was kept."""
        return self.addresses <= MOST

    def races(self) -> list[Race]:
        """
        Return at most one conflict of a read with a write and one of two writes.

        Two writes conflict where they leave different bits: programs that write the same value do no harm in any order.
        """
        if self.orders or not self.whole:
            return []
        writes = self._columns(WRITE, ATOMIC)
        if writes is None:
            return []
        order = np.argsort(writes[0], kind="stable")
        address, program, line, kind, bits = (column[order] for column in writes)
        found = _two_writes(address, program, line, kind, bits)
        reads = self._columns(READ)
        return [*found, *(_read_and_write(address, program, reads) if reads is not None else [])]

    def _columns(self, *kinds: int) -> tuple[Array, ...] | None:
        chosen = [a for a in self.accesses if a[0] in kinds and len(a[3])]
        if not chosen:
            return None
        sizes = [len(a[3]) for a in chosen]
        return (
            np.concatenate([a[3] for a in chosen]),
            np.repeat([a[1] for a in chosen], sizes),
            np.repeat([a[2] for a in chosen], sizes),
            np.repeat([a[0] for a in chosen], sizes),
            np.concatenate([a[4] if a[4] is not None else np.zeros(n, np.uint64) for a, n in zip(chosen, sizes)]),  # noqa: B905
        )


def _two_writes(address: Array, program: Array, line: Array, kind: Array, bits: Array) -> list[Race]:
    same = (address[1:] == address[:-1]) & (program[1:] != program[:-1]) & (bits[1:] != bits[:-1])
    same &= (kind[1:] != ATOMIC) | (kind[:-1] != ATOMIC)
    if not same.any():
        return []
    at = int(np.argmax(same))
    return [Race(int(address[at]), int(program[at]), int(program[at + 1]), int(line[at + 1]), both_write=True)]


def _read_and_write(address: Array, program: Array, reads: tuple[Array, ...]) -> list[Race]:
    """Hold reads against sorted writes: of several writers of one address the first and the last are looked at."""
    left = np.searchsorted(address, reads[0], side="left")
    right = np.searchsorted(address, reads[0], side="right") - 1
    known = (left < len(address)) & (right >= left)
    left, right = np.minimum(left, len(address) - 1), np.maximum(right, 0)
    for side in (left, right):
        bad = known & (program[side] != reads[1])
        if bad.any():
            at = int(np.argmax(bad))
            writer = int(program[side[at]])
            return [Race(int(reads[0][at]), writer, int(reads[1][at]), int(reads[2][at]), both_write=False)]
    return []
