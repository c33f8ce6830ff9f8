"""``torch.slice_scatter``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.clones import opaque_clone
from compilefix.ops.drop_in import DropIn, Sample, functional_strategies

Tensor = torch.Tensor


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """
    Return `input` with ``input[..., start:end:step, ...]`` along `dim` replaced by `src`; `input` is left alone.

    Args:
        input: any shape but 0-dim, any dtype.
        src: of the shape of the slice and castable to the dtype of `input`.
        dim: dimension to slice; may be negative.
        start: first position; None is 0; negative counts from the end; beyond the end is the end.
        end: one past the last position, in the same manner; None is the end.
        step: positive stride.

    Raises:
        RuntimeError: `src` has not the shape of the slice, or `step` is not positive.
        IndexError: `dim` is out of range.

    Upstream: the result is written into `input` when that is overwritten later in the same graph,
    https://github.com/pytorch/pytorch/issues/198094, and aliases it when copied back,
    https://github.com/pytorch/pytorch/issues/195451. A ``.clone()`` does not help before 2.15.0. It can go where
    ``compilefix status`` says off.

    """
    raise NotImplementedError


def _bounds(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """Return start and end as torch clamps them; an empty slice has equal ones."""
    first = 0 if start is None else start
    last = size if end is None else end
    first = min(max(first + size if first < 0 else first, 0), size)
    last = min(max(last + size if last < 0 else last, first), size)
    return first, last


def cat(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Put the pieces before, `src`, and the pieces behind together; with a step, write into an opaque copy."""
    if step != 1:
        return torch.slice_scatter(opaque_clone(input), opaque_clone(src), dim, start, end, step)
    first, last = _bounds(input.shape[dim], start, end)
    head, tail = input.narrow(dim, 0, first), input.narrow(dim, last, input.shape[dim] - last)
    want = (*input.shape[: dim % input.ndim], last - first, *input.shape[dim % input.ndim + 1 :])
    if src.shape != want:
        raise RuntimeError(f"expected src to have the shape {want} of the slice, not {tuple(src.shape)}")
    return torch.cat([head, src.to(input.dtype), tail], dim)


def assign(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Assign to a slice of a clone, as is often advised."""
    out = input.clone()
    out[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)] = src
    return out


def index_put(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Write the positions of the slice by index."""
    first, last = _bounds(input.shape[dim], start, end)
    positions = torch.arange(first, last, step, device=input.device)
    return torch.index_put(input, (None,) * (dim % input.ndim) + (positions,), src.to(input.dtype))


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (src, 0, 1, 3), {}


DROP_INS = (
    DropIn(
        name="slice_scatter",
        upstream=torch.slice_scatter,
        documented=slice_scatter,
        strategies=functional_strategies(torch.slice_scatter, cat=cat, assign=assign, index_put=index_put),
        records=("gh198094", "gh195451", "gh180164"),
        sample=Sample(source=lambda base: base[3:5], arguments=_arguments),
    ),
)
