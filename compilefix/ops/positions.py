"""Where a write lands: dimensions and bounds as torch counts them, and masks over them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import pad

Tensor = torch.Tensor


def wrapped(position: int, size: int) -> int | None:
    """Return a position that may be negative as one that counts from the start, or None where it is out of range."""
    if position < -size or position >= size:
        return None
    return position + size if position < 0 else position


def clamped(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """Return start and end of a slice as torch clamps them; an empty slice has equal ones."""
    first = 0 if start is None else start
    last = size if end is None else end
    first = min(max(first + size if first < 0 else first, 0), size)
    last = min(max(last + size if last < 0 else last, first), size)
    return first, last


def along(values: Tensor, axis: int, ndim: int) -> Tensor:
    """Return 1-D `values` with the shape that broadcasts them along `axis` of a tensor of `ndim` dimensions."""
    return values.reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1))


def spread(x: Tensor, axis: int, before: int, behind: int) -> Tensor:
    """Return `x` (any dtype) with zeros put before and behind it along `axis`."""
    return pad(x, (0, 0) * (x.ndim - axis - 1) + (before, behind))


def strided(size: Sequence[int], stride: Sequence[int], offset: int, device: torch.device) -> Tensor:
    """Return the positions in memory, in elements, of a strided view: int64 of shape `size`."""
    positions = torch.full((), offset, dtype=torch.int64, device=device)
    for axis, (count, step) in enumerate(zip(size, stride, strict=True)):
        positions = positions + along(torch.arange(count, device=device) * step, axis, len(size))
    return positions


def extent(size: Sequence[int], stride: Sequence[int], offset: int) -> int:
    """Return how many elements of memory a strided view without negative strides needs from its storage's start."""
    if any(count == 0 for count in size):
        return 0
    return offset + sum((count - 1) * step for count, step in zip(size, stride, strict=True)) + 1
