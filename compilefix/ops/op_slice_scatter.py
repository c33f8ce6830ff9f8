"""``torch.slice_scatter``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.clones import fused_clone, opaque_clone
from compilefix.ops.drop_in import DropIn, Sample, functional_strategies
from compilefix.ops.positions import along, clamped, spread, wrapped

Tensor = torch.Tensor


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """
    Return `input` with ``input[..., start:end:step, ...]`` along `dim` replaced by `src`; `input` is left alone.

    Args:
        input: any shape but 0-dim, any dtype.
        src: of the very shape of the slice; cast to the dtype of `input`.
        dim: dimension to slice; may be negative.
        start: first position; None is 0; negative counts from the end; beyond the end is the end.
        end: one past the last position, in the same manner; None is the end.
        step: positive stride.

    Raises:
        RuntimeError: `src` has not the shape of the slice, `step` is not positive, or `input` is 0-dim.
        IndexError: `dim` is out of range.

    Upstream: the result is written into `input` when that is overwritten later in the same graph,
    https://github.com/pytorch/pytorch/issues/198094, and aliases it when copied back,
    https://github.com/pytorch/pytorch/issues/195451. A ``.clone()`` does not help before 2.15.0. The gradient of its
    sum is wrong up to 2.9.1, https://github.com/pytorch/pytorch/issues/180164. It can go where ``compilefix status``
    says off.

    """
    raise NotImplementedError


def _place(
    input: Tensor, src: Tensor, dim: int, start: int | None, end: int | None, step: int
) -> tuple[int, int, int] | None:
    """Return axis, first and last position of the slice; None where upstream refuses the arguments."""
    axis = wrapped(dim, input.ndim)
    if axis is None or step < 1:
        return None
    first, last = clamped(input.shape[axis], start, end)
    count = (last - first + step - 1) // step
    fits = src.shape == (*input.shape[:axis], count, *input.shape[axis + 1 :])
    return (axis, first, last) if fits else None


def where(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Choose between `input` and `src`, spread over the length of `input`, under a mask of positions."""
    place = _place(input, src, dim, start, end, step)
    if place is None:
        return torch.slice_scatter(input, src, dim, start, end, step)
    axis, first, last = place
    size, count = input.shape[axis], src.shape[axis]
    at = torch.arange(size, device=input.device)
    kept = (at < first) | (at >= last)
    if step == 1:
        source = spread(src.to(input.dtype), axis, first, size - last)
    elif count == 0:
        return fused_clone(input)
    else:
        kept = kept | ((at - first) % step != 0)
        nearest = torch.div(at - first, step, rounding_mode="floor").clamp(0, count - 1)
        source = src.to(input.dtype).index_select(axis, nearest)
    return torch.where(along(kept, axis, input.ndim), input, source)


def cat(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Put the pieces before, `src`, and the pieces behind together; with a step, write into an opaque copy."""
    if step != 1:
        return torch.slice_scatter(opaque_clone(input), opaque_clone(src), dim, start, end, step)
    place = _place(input, src, dim, start, end, step)
    if place is None:
        return torch.slice_scatter(input, src, dim, start, end, step)
    axis, first, last = place
    head, tail = input.narrow(axis, 0, first), input.narrow(axis, last, input.shape[axis] - last)
    return torch.cat([head, src.to(input.dtype), tail], axis)


def assign(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Assign to a slice of a clone, as is often advised."""
    place = _place(input, src, dim, start, end, step)
    if place is None:
        return torch.slice_scatter(input, src, dim, start, end, step)
    axis, first, last = place
    out = input.clone()
    out[(slice(None),) * axis + (slice(first, last, step),)] = src
    return out


def index_put(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Write the positions of the slice by index."""
    place = _place(input, src, dim, start, end, step)
    if place is None:
        return torch.slice_scatter(input, src, dim, start, end, step)
    axis, first, last = place
    positions = torch.arange(first, last, step, device=input.device)
    leading = torch.index_put(input.movedim(axis, 0), (positions,), src.to(input.dtype).movedim(axis, 0))
    return leading.movedim(0, axis)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (src, 0, 1, 3), {}


DROP_INS = (
    DropIn(
        name="slice_scatter",
        upstream=torch.slice_scatter,
        documented=slice_scatter,
        strategies=functional_strategies(
            torch.slice_scatter,
            order=("clone", "fused-clone", "where", "cat", "assign", "index-put"),
            where=where,
            cat=cat,
            assign=assign,
            index_put=index_put,
        ),
        records=("gh198094", "gh195451", "gh180164"),
        sample=Sample(source=lambda base: base[0:2], arguments=_arguments),
    ),
)
