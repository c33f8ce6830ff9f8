"""``torch.masked_scatter`` and ``Tensor.masked_scatter_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.clones import opaque_clone
from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies

Tensor = torch.Tensor


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """
    Return `input` with the elements of `source`, one after the other, where `mask` is true; `input` is left alone.

    Args:
        input: any shape and dtype.
        mask: bool, of a shape that broadcasts with `input`; the result has their common shape.
        source: of the dtype of `input` and any shape; at least as many elements as `mask` has true ones once it is
            broadcast.

    Raises:
        RuntimeError: `mask` is not bool, dtypes differ, shapes do not broadcast, or `source` is too short.

    Upstream: no defect is recorded for it; its siblings have one, https://github.com/pytorch/pytorch/issues/198094.
    It is on only where ``compilefix probe`` finds this torch wrong.

    """
    raise NotImplementedError


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """
    Write the elements of `source`, one after the other, where `mask` is true; return `self`.

    Args:
        self: any shape and dtype; no two elements share memory.
        mask: bool, of a shape that broadcasts to that of `self`.
        source: of the dtype of `self` and any shape; at least as many elements as `mask` has true ones.

    Raises:
        RuntimeError: `mask` is not bool or does not broadcast to `self`, dtypes differ, `source` is too short, or
            `self` is a leaf that requires grad.

    Upstream: no defect is recorded for it. It is on only where ``compilefix probe`` finds this torch wrong.

    """
    raise NotImplementedError


def where(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Choose under the mask between `input` and `source`, gathered by how many true elements there were so far."""
    if mask.dtype != torch.bool or source.dtype != input.dtype:
        return torch.masked_scatter(input, mask, source)
    if source.numel() == 0:  # nothing to gather from; right only if the mask is false throughout
        return torch.masked_scatter(opaque_clone(input), mask, source)
    shape = torch.broadcast_shapes(mask.shape, input.shape)  # type: ignore[no-untyped-call]
    mask, base = mask.expand(shape), input.expand(shape)
    taken = (mask.reshape(-1).cumsum(0) - 1).clamp(min=0)
    return torch.where(mask, source.reshape(-1).index_select(0, taken).reshape(mask.shape), base)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (torch.arange(36, device=src.device).reshape(6, 6) % 5 == 1, src), {}


SAMPLE = Sample(source=lambda base: base[2:4], arguments=_arguments)
FUNCTIONAL = DropIn(
    name="masked_scatter",
    upstream=torch.masked_scatter,
    documented=masked_scatter,
    strategies=functional_strategies(torch.masked_scatter, where=where),
    records=(),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="masked_scatter_",
    upstream=torch.Tensor.masked_scatter_,
    documented=masked_scatter_,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.masked_scatter_),
    records=(),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
