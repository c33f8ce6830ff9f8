"""Which tensors of a run share memory: exact by address, for any strides and any element sizes."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from compilefix.oracle.observation import HOLLOW, as_tensor, inner_tensors, walk

EXACT_OVERLAP_ELEMENTS = 1 << 26
"""Up to this many places of a pair's common span are compared one by one, beyond it spans are taken as filled."""


@dataclass(frozen=True)
class Span:
    """The memory of one tensor in bytes: where it starts, and its steps as ``(count, stride)``, no stride zero."""

    start: int
    size: int
    """Bytes of one element."""

    steps: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.start + sum((n - 1) * stride for n, stride in self.steps) + self.size

    @property
    def dense(self) -> bool:
        """True where every byte from start to end belongs to an element."""
        reach = self.size
        for n, stride in sorted(self.steps, key=lambda step: step[1]):
            if stride > reach:
                return False
            reach += (n - 1) * stride
        return True


def overlaps(*parts: tuple[str, Any]) -> frozenset[tuple[str, str]]:
    """
    Return the pairs of paths whose tensors share at least one byte of memory.

    Sharing a storage without a common byte does not count: no write through one is seen through the other.
    """
    spans: list[tuple[str, Span]] = []
    with torch._C.DisableTorchFunctionSubclass():
        for path, value in parts:
            for name, leaf in walk(value, path):
                spans += [(name, span) for span in _spans(leaf)]
    order = sorted(range(len(spans)), key=lambda i: spans[i][1].start)
    found: set[tuple[str, str]] = set()
    for place, i in enumerate(order):
        for j in itertools.islice(order, place + 1, None):
            if spans[j][1].start >= spans[i][1].end:
                break
            pair = (spans[min(i, j)][0], spans[max(i, j)][0])
            if pair[0] != pair[1] and pair not in found and _share_memory(spans[i][1], spans[j][1]):
                found.add(pair)
    return frozenset(found)


def _spans(leaf: Any) -> list[Span]:
    tensor = as_tensor(leaf)
    if tensor is None or (tensor.is_nested and tensor.layout is torch.strided):
        return []
    if tensor is not leaf:  # NumPy's
        if not isinstance(leaf, sys.modules["numpy"].ndarray) or leaf.size == 0:
            return []
        start = leaf.__array_interface__["data"][0]
        return [_span(start, leaf.itemsize, zip(leaf.shape, leaf.strides, strict=True))]
    inner = inner_tensors(tensor)
    if inner:
        return [span for part in inner.values() for span in _spans(part)]
    if tensor.layout is not torch.strided or tensor.numel() == 0 or type(tensor).__name__ in HOLLOW:
        return []
    try:
        start = tensor.data_ptr()
    except (RuntimeError, NotImplementedError):  # no memory of its own
        return []
    size = tensor.element_size()
    steps = zip(tensor.shape, (int(stride) * size for stride in tensor.stride()), strict=True)
    return [_span(start, size, steps)] if start else []


def _span(start: int, size: int, steps: Iterable[tuple[int, int]]) -> Span:
    """Turn steps backwards round, and drop those that go nowhere."""
    kept = [(n, stride) for n, stride in steps if n > 1 and stride != 0]
    low = sum((n - 1) * stride for n, stride in kept if stride < 0)
    return Span(start + low, size, tuple((n, abs(stride)) for n, stride in kept))


def _share_memory(a: Span, b: Span) -> bool:
    """Tell whether `a` and `b`, whose extents overlap, have a byte in common."""
    for one, two in ((a, b), (b, a)):
        if one.dense and (one.start <= two.start < one.end or one.start < two.end <= one.end):
            return True
    strides = [stride for _, stride in (*a.steps, *b.steps)]
    grid = math.gcd(*strides)
    if grid and a.size <= (b.start - a.start) % grid <= grid - b.size:
        return False  # the elements of one lie in the gaps of the other, as columns do
    first = min(a.start, b.start)
    unit = math.gcd(a.size, b.size, b.start - a.start, *strides)
    places = (max(a.end, b.end) - first) // unit
    if places > EXACT_OVERLAP_ELEMENTS:
        return True
    marks = torch.zeros(places, dtype=torch.bool, device="cpu")
    _places(marks, a, first, unit).fill_(True)
    return bool(_places(marks, b, first, unit).any())


def _places(marks: torch.Tensor, span: Span, first: int, unit: int) -> torch.Tensor:
    steps = (*span.steps, (span.size // unit, unit))
    shape, strides = [n for n, _ in steps], [stride // unit for _, stride in steps]
    return marks.as_strided(shape, strides, (span.start - first) // unit)
