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
    """A conflict between two programs, or between two lanes of one store where `first` is `second`."""

    address: int
    first: int
    """Program that writes, as a position in the grid."""

    second: int
    first_line: int
    """Line of the write."""

    line: int
    """Line of the second program's access."""

    both_write: bool


@dataclass
class Trace:
    """Every access of one launch, program by program."""

    accesses: list[tuple[int, int, int, Array, Array | None]] = field(default_factory=list)
    """Kind, program, line, addresses, and for writes the bits that were written."""

    addresses: int = 0
    before: list[Race] = field(default_factory=list)
    """Conflicts before the last barrier of the whole grid."""

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

    def cut(self) -> None:
        """All programs have met: what comes from here on conflicts with nothing that was before."""
        self.before += self._conflicts()
        self.accesses.clear()

    def races(self) -> list[Race]:
        """
        Return the conflicts, one of each kind and pair of lines: a read with a write, and two writes.

        Two writes conflict where they leave different bits. Where all programs write the same bits to an address, every
        order leaves those, so such an overlap is benign.
        """
        return [*self.before, *self._conflicts()]

    def _conflicts(self) -> list[Race]:
        if self.orders or not self.whole:
            return []
        writes = self._columns(WRITE, ATOMIC)
        if writes is None:
            return []
        order = np.argsort(writes[0], kind="stable")
        address, program, line, kind, access, bits = (column[order] for column in writes)
        found = _two_writes(address, program, line, kind, access, bits)
        reads = self._columns(READ)
        return [*found, *(_read_and_write(address, program, line, reads) if reads is not None else [])]

    def _columns(self, *kinds: int) -> tuple[Array, ...] | None:
        chosen = [(i, *a) for i, a in enumerate(self.accesses) if a[0] in kinds and len(a[3])]
        if not chosen:
            return None
        sizes = [len(a[4]) for a in chosen]
        bits = [a[5] if a[5] is not None else np.zeros(len(a[4]), np.uint64) for a in chosen]
        return (
            np.concatenate([a[4] for a in chosen]),
            *(np.repeat([a[k] for a in chosen], sizes) for k in (2, 3, 1, 0)),
            np.concatenate(bits),
        )


def _two_writes(address: Array, program: Array, line: Array, kind: Array, access: Array, bits: Array) -> list[Race]:
    same = (address[1:] == address[:-1]) & (bits[1:] != bits[:-1])
    same &= (program[1:] != program[:-1]) | (access[1:] == access[:-1])
    same &= (kind[1:] != ATOMIC) | (kind[:-1] != ATOMIC)
    at = np.flatnonzero(same)
    return [
        Race(int(address[i]), int(program[i]), int(program[i + 1]), int(line[i]), int(line[i + 1]), both_write=True)
        for i in at[_firsts(line[at], line[at + 1])]
    ]


def _read_and_write(address: Array, program: Array, line: Array, reads: tuple[Array, ...]) -> list[Race]:
    """Hold reads against sorted writes: of several writers of one address the first and the last are looked at."""
    left = np.searchsorted(address, reads[0], side="left")
    right = np.searchsorted(address, reads[0], side="right") - 1
    known = (left < len(address)) & (right >= left)
    left, right = np.minimum(left, len(address) - 1), np.maximum(right, 0)
    found: dict[tuple[int, int], Race] = {}
    for side in (left, right):
        at = np.flatnonzero(known & (program[side] != reads[1]))
        for i in at[_firsts(line[side[at]], reads[2][at])]:
            w = side[i]
            race = Race(
                int(reads[0][i]), int(program[w]), int(reads[1][i]), int(line[w]), int(reads[2][i]), both_write=False
            )
            found.setdefault((race.first_line, race.line), race)
    return list(found.values())


def _firsts(first: Array, second: Array) -> Array:
    """Return the position at which each pair of lines stands first."""
    if len(first) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.stack([first, second]), axis=1, return_index=True)[1]
