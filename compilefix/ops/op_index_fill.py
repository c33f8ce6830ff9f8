"""``torch.index_fill`` and ``Tensor.index_fill_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops import checks
from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies

Tensor = torch.Tensor
Number = bool | int | float | complex
OP = "index_fill_"


def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """
    Return `input` with the slices along `dim` that `index` names filled with `value`; `input` itself is left alone.

    ``index_fill_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64, a vector or 0-dim; negative elements count from the end (upstream has no gradient for them).
        value: number or 0-dim tensor, cast to the dtype of `input`; not complex for a real `input`.

    Raises:
        RuntimeError: `value` or `index` has too many dimensions, or a complex `value` is meant for a real `input`.
        IndexError: `index` is not int64 or out of range (a RuntimeError when compiled), or `dim` is out of range.

    Upstream: on an expanded `input` Inductor fills all slices, https://github.com/pytorch/pytorch/issues/183986 (right
    in 2.14.1), and the result is written in place although the input is overwritten later,
    https://github.com/pytorch/pytorch/issues/198094. An update that reads others right after ``index_fill_`` gives
    wrong values, https://github.com/pytorch/pytorch/issues/198270 (right in 2.15.0). Compiled code takes an int32
    `index`, which plain torch refuses, https://github.com/pytorch/pytorch/issues/197554. It can go where
    ``compilefix status`` says off.

    """
    raise NotImplementedError


def _fit(index: Tensor) -> None:
    checks.vector(index, RuntimeError, OP)
    checks.require(index.dtype == torch.int64, IndexError, lambda: f"{OP}(): Expected dtype int64 for index.")


def _checked(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    _fit(index)
    return torch.index_fill(input, dim, index, value)


def where(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """Mark the positions in a mask of their own, and choose between `value` and `input`."""
    _fit(index)
    position = checks.dimension(input, dim)
    size = checks.size_along(input, position)
    complex_value = value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)
    checks.require(
        input.is_complex() or not complex_value,
        RuntimeError,
        lambda: f"{OP}(): Converting complex Scalar to non-complex type is not supported",
    )
    if isinstance(value, Tensor):
        checks.require(
            value.ndim == 0,
            RuntimeError,
            lambda: f"{OP} only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).",
        )
        filling = value.to(device=input.device, dtype=input.dtype)
    else:
        filling = torch.full((), value, dtype=input.dtype, device=input.device)
    if input.numel() == 0:
        return input.clone()
    at = index.reshape(-1)
    on = torch.ones((), dtype=torch.bool, device=input.device)
    mask = torch.index_put(torch.zeros(size, dtype=torch.bool, device=input.device), (at,), on)
    shape = (-1,) + (1,) * (input.ndim - position - 1) if input.ndim else ()
    return torch.where(mask.reshape(shape), filling, input)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([4, 1], device=src.device), src), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([4, 1], device=src.device, dtype=torch.int32), src), {}


SAMPLE = Sample(source=lambda base: base[4, 4], arguments=_arguments, edge=_edge)
FUNCTIONAL = DropIn(
    name="index_fill",
    upstream=torch.index_fill,
    documented=index_fill,
    strategies={"checked": _checked} | functional_strategies(_checked, where=where),
    records=("gh183986", "gh197554", "gh198094"),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="index_fill_",
    upstream=torch.Tensor.index_fill_,
    documented=index_fill,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.index_fill_),
    records=("gh197554", "gh198094", "gh198270"),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
