"""``torch.diagonal_scatter``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, functional_strategies
from compilefix.ops.positions import along, spread, wrapped

Tensor = torch.Tensor


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """
    Return `input` with ``input.diagonal(offset, dim1, dim2)`` replaced by `src`; `input` is left alone.

    Args:
        input: at least 2-D, any dtype.
        src: of the very shape of that diagonal: the dimensions of `input` but `dim1` and `dim2`, then the diagonal's
            length; cast to the dtype of `input`.
        offset: 0 is the main diagonal, positive ones lie above it, negative ones below; beyond the edge it is empty.
        dim1: dimension that counts the rows; may be negative.
        dim2: dimension that counts the columns; may be negative.

    Raises:
        RuntimeError: `src` has not the shape of the diagonal, or `dim1` and `dim2` are the same.
        IndexError: `dim1` or `dim2` is out of range.

    Upstream: the result is written into `input` when that is overwritten later in the same graph,
    https://github.com/pytorch/pytorch/issues/198094; a ``.clone()`` does not help before 2.15.0. It can go where
    ``compilefix status`` says off.

    """
    raise NotImplementedError


def _place(input: Tensor, src: Tensor, offset: int, dim1: int, dim2: int) -> tuple[int, int, int] | None:
    """Return the axes of rows and columns and the length; None where upstream refuses the arguments."""
    rows, columns = wrapped(dim1, input.ndim), wrapped(dim2, input.ndim)
    if rows is None or columns is None or rows == columns:
        return None
    n, m = input.shape[rows], input.shape[columns]
    length = max(min(n, m - offset) if offset >= 0 else min(n + offset, m), 0)
    others = [size for axis, size in enumerate(input.shape) if axis not in (rows, columns)]
    return (rows, columns, length) if src.shape == (*others, length) else None


def where(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Choose between `input` and `src`, spread along rows or columns, under a mask of the diagonal."""
    place = _place(input, src, offset, dim1, dim2)
    if place is None:
        return torch.diagonal_scatter(input, src, offset, dim1, dim2)
    rows, columns, length = place
    row = along(torch.arange(input.shape[rows], device=input.device), rows, input.ndim)
    column = along(torch.arange(input.shape[columns], device=input.device), columns, input.ndim)
    counted, other = (rows, columns) if offset >= 0 else (columns, rows)
    source = spread(src.to(input.dtype), src.ndim - 1, 0, input.shape[counted] - length)
    source = source.unsqueeze(-1).movedim((-2, -1), (counted, other))
    return torch.where(column - row != offset, input, source)


def assign(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Assign to the diagonal of a clone, as is often advised."""
    if _place(input, src, offset, dim1, dim2) is None:
        return torch.diagonal_scatter(input, src, offset, dim1, dim2)
    out = input.clone()
    out.diagonal(offset, dim1, dim2)[...] = src
    return out


def index_put(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Write the positions of the diagonal by index."""
    place = _place(input, src, offset, dim1, dim2)
    if place is None:
        return torch.diagonal_scatter(input, src, offset, dim1, dim2)
    rows, columns, length = place
    positions = torch.arange(length, device=input.device)
    index = (positions + max(-offset, 0), positions + max(offset, 0))
    leading = input.movedim((rows, columns), (0, 1))
    return torch.index_put(leading, index, src.to(input.dtype).movedim(-1, 0)).movedim((0, 1), (rows, columns))


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (src,), {}


DROP_INS = (
    DropIn(
        name="diagonal_scatter",
        upstream=torch.diagonal_scatter,
        documented=diagonal_scatter,
        strategies=functional_strategies(
            torch.diagonal_scatter,
            order=("clone", "where", "fused-clone", "assign", "index-put"),
            where=where,
            assign=assign,
            index_put=index_put,
        ),
        records=("gh198094",),
        sample=Sample(source=lambda base: base.reshape(-1)[7:13], arguments=_arguments),
    ),
)
