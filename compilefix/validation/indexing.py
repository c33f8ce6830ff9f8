"""The rules of ``x[i]``: which subscript consumes which dimension, and what shape comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from compilefix.validation.call import BOOL_OR_BYTE, INTEGERS, Index
from compilefix.validation.faults import certain

Part = tuple[int, Any, int | None]
"""Number of the subscript between the brackets, the subscript, its first dimension (None: it adds one)."""


@dataclass(frozen=True)
class Layout:
    """Subscripts spread over the dimensions of a tensor, the ellipsis filled in."""

    shape: tuple[int, ...]
    parts: tuple[Part, ...]
    consumed: int
    """Dimensions that the subscripts name; more than there are is a mistake."""

    single: bool
    selects: bool
    """True between brackets, where an integer tensor without dimensions counts as a plain integer."""

    @classmethod
    def of(cls, subscripts: Any, shape: tuple[int, ...], *, brackets: bool) -> Layout | None:
        """
        Return the layout, or None for subscripts that only torch can read, such as nested sequences.

        `brackets` is False for index_put, whose None means a whole dimension.
        """
        single = brackets and not isinstance(subscripts, tuple)
        items = [subscripts] if single else list(subscripts)
        items = [_tensor(item) for item in items] if brackets else [slice(None) if k is None else k for k in items]
        if not all(_known(item) for item in items) or sum(item is Ellipsis for item in items) > 1:
            return None
        consumed = sum(_width(item) for item in items)
        missing = max(len(shape) - consumed, 0)
        if not any(item is Ellipsis for item in items):
            items.append(Ellipsis)
        parts: list[Part] = []
        dim = 0
        for number, item in enumerate(items):
            if item is Ellipsis:
                parts += [(number, slice(None), dim + k) for k in range(missing)]
                dim += missing
            else:
                parts.append((number, item, None if item is None else dim))
                dim += _width(item)
        return cls(shape, tuple(parts), consumed, single, brackets)

    @property
    def tensors(self) -> list[Part]:
        """The subscripts that are tensors."""
        return [part for part in self.parts if isinstance(part[1], torch.Tensor)]

    @property
    def masked(self) -> bool:
        """True where a mask is among the subscripts, so that the result's shape hangs on values."""
        return any(item.dtype in BOOL_OR_BYTE for _, item, _ in self.tensors)

    @property
    def whole_sizes(self) -> list[int]:
        """Sizes that the slices leave, in order."""
        kept = [(item, dim) for _, item, dim in self.parts if isinstance(item, slice)]
        return [_length(item, self.shape[dim]) for item, dim in kept if dim is not None and dim < len(self.shape)]

    def without_masks(self) -> Layout:
        """Return the layout with the places of every mask in its stead, which reads values; masks must fit."""
        if any(item.dim() == 0 and item.dtype in BOOL_OR_BYTE for _, item, _ in self.tensors):
            return self  # adds a dimension of its own
        parts: list[Part] = []
        for number, item, dim in self.parts:
            if isinstance(item, torch.Tensor) and item.dtype in BOOL_OR_BYTE and dim is not None:
                parts += [(number, place, dim + k) for k, place in enumerate(item.nonzero(as_tuple=True))]
            else:
                parts.append((number, item, dim))
        return replace(self, parts=tuple(parts))

    def label(self, number: int, name: str) -> str:
        """Return how a subscript is called in a message: ``index``, or ``index 1`` of several."""
        return name if self.single else f"{name}[{number}]"

    def indices(self, name: str) -> tuple[Index, ...]:
        """Return the tensors of integers, each with its dimension; those without one are left out."""
        return tuple(
            Index(self.label(number, name), item, dim, self.shape[dim], self.selects and item.dim() == 0)
            for number, item, dim in self.tensors
            if item.dtype in INTEGERS and dim is not None and dim < len(self.shape)
        )

    def result(self) -> tuple[list[int], int, int] | None:
        """
        Return the result's shape, where the indexed block starts in it, and how many dimensions that has.

        None where masks or mistakes leave the shape open. Single integers are taken before the tensors, so they do
        not part a block.
        """
        if self.masked or self.consumed > len(self.shape):
            return None
        block = broadcast([tuple(item.shape) for _, item, _ in self.tensors])
        if block is None:
            return None
        sizes: list[int] = []
        places: list[int] = []
        for _, item, dim in self.parts:
            if isinstance(item, torch.Tensor) and not (self.selects and item.dim() == 0):
                places.append(len(sizes))
            elif item is None:
                sizes.append(1)
            elif isinstance(item, slice) and dim is not None:
                sizes.append(_length(item, self.shape[dim]))
        start = places[0] if len(set(places)) == 1 else 0
        return sizes[:start] + block + sizes[start:], start, len(block)


def broadcast(shapes: Sequence[Sequence[int]]) -> list[int] | None:
    """Return the common shape, or None where there is none."""
    common: list[int] = []
    for shape in shapes:
        common = [1] * (len(shape) - len(common)) + common
        for k in range(1, len(shape) + 1):
            if certain(common[-k] == 1):
                common[-k] = shape[-k]
            elif certain(shape[-k] != 1) and certain(shape[-k] != common[-k]):
                return None
    return common


def expands(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Tell whether a tensor of `shape` can be broadcast to exactly `wanted`."""
    if len(shape) > len(wanted):
        return False
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return not any(certain(a != 1) and certain(a != b) for a, b in pairs)


def _tensor(item: Any) -> Any:
    """Return a list of integers or an array as the tensor that torch makes of it."""
    flat = isinstance(item, list) and len(item) > 0 and all(type(k) in (int, bool) for k in item)
    return torch.as_tensor(item) if flat or type(item).__module__ == "numpy" else item


def _known(item: Any) -> bool:
    plain = item is None or item is Ellipsis or isinstance(item, torch.Tensor)
    if isinstance(item, slice):
        return all(k is None or isinstance(k, int) for k in (item.start, item.stop, item.step))
    return plain or (isinstance(item, int | torch.SymInt) and not isinstance(item, bool))


def _width(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.dim() if isinstance(item, torch.Tensor) and item.dtype in BOOL_OR_BYTE else 1


def _length(item: slice, size: int) -> int:
    if item == slice(None):
        return size
    return len(range(*item.indices(int(size))))
