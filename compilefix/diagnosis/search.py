"""Delta debugging over sets, several tests side by side. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
First = Callable[[Sequence[tuple[T, ...]]], "int | None"]
"""Tests candidate sets, perhaps side by side; returns the index of one that holds, None where none does."""


def minimal(items: Sequence[T], first: First[T], coarse: int = 2) -> tuple[T, ...]:
    """
    Return a part of `items` that holds and no part of which, with one item less, does.

    `items` as a whole must hold; the caller checks both ends first. Halves are tested before finer parts, so that one
    guilty item among n costs log2(n) rounds. With more `coarse` parts than two, as pays where tests run side by side
    and the first that holds ends them, it costs fewer.
    """
    kept, parts = tuple(items), coarse
    while len(kept) > 1:
        chunks = split(kept, min(parts, len(kept)))
        found = first(chunks)
        if found is not None:
            kept, parts = chunks[found], coarse
            continue
        if len(chunks) > 2:
            rest = [tuple(i for c in chunks if c is not chunk for i in c) for chunk in chunks]
            found = first(rest)
            if found is not None:
                kept, parts = rest[found], max(len(chunks) - 1, 2)
                continue
        if len(chunks) == len(kept):
            break
        parts = 2 * len(chunks)
    return kept


def split(items: Sequence[T], parts: int) -> list[tuple[T, ...]]:
    """Return `items` in `parts` runs of about the same length."""
    size, extra = divmod(len(items), parts)
    chunks, start = [], 0
    for i in range(parts):
        end = start + size + (i < extra)
        chunks.append(tuple(items[start:end]))
        start = end
    return chunks


def disjoint(items: Sequence[T], first: First[T], most: int) -> list[tuple[T, ...]]:
    """
    Return up to `most` minimal sets, each found without the items of those before it.

    Several sets mean that each of them alone will do.
    """
    found: list[tuple[T, ...]] = []
    left = tuple(items)
    while len(found) < most and left and first([left]) is not None:
        found.append(minimal(left, first))
        left = tuple(i for i in left if i not in found[-1])
    return found
