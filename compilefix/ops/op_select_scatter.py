"""``torch.select_scatter``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, functional_strategies
from compilefix.ops.positions import along, wrapped

Tensor = torch.Tensor


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """
    Return `input` with ``input.select(dim, index)`` replaced by `src`; `input` is left alone.

    Args:
        input: any shape but 0-dim, any dtype.
        src: of the very shape of the selection, which is that of `input` without `dim`; cast to the dtype of `input`.
        dim: dimension to select from; may be negative.
        index: position in `dim`; may be negative.

    Raises:
        RuntimeError: `src` has not the shape of the selection.
        IndexError: `dim` or `index` is out of range, or `input` is 0-dim.

    Upstream: the result is written into `input` when that is overwritten later in the same graph,
    https://github.com/pytorch/pytorch/issues/198094; a ``.clone()`` does not help before 2.15.0. It can go where
    ``compilefix status`` says off.

    """
    raise NotImplementedError


def _place(input: Tensor, src: Tensor, dim: int, index: int) -> tuple[int, int] | None:
    """Return axis and position of the selection; None where upstream refuses the arguments."""
    axis = wrapped(dim, input.ndim)
    if axis is None or src.shape != (*input.shape[:axis], *input.shape[axis + 1 :]):
        return None
    position = wrapped(index, input.shape[axis])
    return None if position is None else (axis, position)


def where(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Choose between `input` and `src` under a mask of positions."""
    place = _place(input, src, dim, index)
    if place is None:
        return torch.select_scatter(input, src, dim, index)
    axis, position = place
    kept = torch.arange(input.shape[axis], device=input.device) != position
    return torch.where(along(kept, axis, input.ndim), input, src.to(input.dtype).unsqueeze(axis))


def cat(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Put the piece before, `src`, and the piece behind together."""
    place = _place(input, src, dim, index)
    if place is None:
        return torch.select_scatter(input, src, dim, index)
    axis, position = place
    behind = input.narrow(axis, position + 1, input.shape[axis] - position - 1)
    return torch.cat([input.narrow(axis, 0, position), src.to(input.dtype).unsqueeze(axis), behind], axis)


def assign(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Assign to a position of a clone, as is often advised."""
    place = _place(input, src, dim, index)
    if place is None:
        return torch.select_scatter(input, src, dim, index)
    axis, position = place
    out = input.clone()
    out[(slice(None),) * axis + (position,)] = src
    return out


def index_put(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Write the position by index."""
    place = _place(input, src, dim, index)
    if place is None:
        return torch.select_scatter(input, src, dim, index)
    axis, position = place
    positions = torch.full((1,), position, dtype=torch.int64, device=input.device)
    leading = torch.index_put(input.movedim(axis, 0), (positions,), src.to(input.dtype).unsqueeze(0))
    return leading.movedim(0, axis)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (src, 0, 3), {}


DROP_INS = (
    DropIn(
        name="select_scatter",
        upstream=torch.select_scatter,
        documented=select_scatter,
        strategies=functional_strategies(
            torch.select_scatter,
            order=("clone", "where", "fused-clone", "cat", "assign", "index-put"),
            where=where,
            cat=cat,
            assign=assign,
            index_put=index_put,
        ),
        records=("gh198094",),
        sample=Sample(source=lambda base: base.reshape(-1)[15:21], arguments=_arguments),
    ),
)
