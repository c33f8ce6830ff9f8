"""``torch.masked_fill`` and ``Tensor.masked_fill_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies
from compilefix.ops.dtypes import castable

Tensor = torch.Tensor


def masked_fill(input: Tensor, mask: Tensor, value: Tensor | complex) -> Tensor:
    """
    Return `input` with `value` where `mask` is true; `input` is left alone.

    Args:
        input: any shape and dtype.
        mask: bool, of a shape that broadcasts with `input`; the result has their common shape.
        value: number, or 0-dim tensor on any device, that fits into the dtype of `input`.

    Raises:
        RuntimeError: `mask` is not bool, shapes do not broadcast, or `value` does not fit.

    Upstream: no defect is recorded for it; its siblings have one, https://github.com/pytorch/pytorch/issues/198094.
    It is on only where ``compilefix probe`` finds this torch wrong.

    """
    raise NotImplementedError


def masked_fill_(self: Tensor, mask: Tensor, value: Tensor | complex) -> Tensor:
    """
    Fill `self` with `value` where `mask` is true; return `self`.

    Args:
        self: any shape and dtype; no two elements share memory.
        mask: bool, of a shape that broadcasts to that of `self`.
        value: number, or 0-dim tensor on any device, that fits into the dtype of `self`.

    Raises:
        RuntimeError: `mask` is not bool or does not broadcast to `self`, `value` does not fit, or `self` is a leaf
            that requires grad.

    Upstream: no defect is recorded for it. It is on only where ``compilefix probe`` finds this torch wrong.

    """
    raise NotImplementedError


def where(input: Tensor, mask: Tensor, value: Tensor | complex) -> Tensor:
    """Choose between `value` and `input` under the mask."""
    if mask.dtype != torch.bool or (isinstance(value, Tensor) and value.ndim > 0):
        return torch.masked_fill(input, mask, value)
    if isinstance(value, Tensor):
        if not castable(value.dtype, input.dtype):
            return torch.masked_fill(input, mask, value)
        return torch.where(mask, value.to(input.dtype), input)
    return torch.where(mask, torch.full((), value, dtype=input.dtype, device=input.device), input)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (torch.arange(36, device=src.device).reshape(6, 6) % 5 == 1, -2.0), {}


SAMPLE = Sample(arguments=_arguments)
FUNCTIONAL = DropIn(
    name="masked_fill",
    upstream=torch.masked_fill,
    documented=masked_fill,
    strategies=functional_strategies(torch.masked_fill, order=("clone", "where"), where=where),
    records=(),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="masked_fill_",
    upstream=torch.Tensor.masked_fill_,
    documented=masked_fill_,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.masked_fill_),
    records=(),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
