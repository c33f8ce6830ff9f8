"""``torch.nn.functional.linear``."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import linear as upstream

from compilefix.ops.drop_in import DropIn, Sample, island

Tensor = torch.Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """
    Return ``input @ weight.T + bias``.

    Args:
        input: ``(…, columns)``.
        weight: ``(rows, columns)`` or ``(columns,)``, of the dtype of `input` unless autocast is on.
        bias: ``(rows,)``, or 0-dim for a 1-D `weight`.

    Raises:
        RuntimeError: shapes or dtypes do not fit.

    Upstream: compiled for the CPU, a layer of one row and one column accepts an `input` of another dtype than the
    `weight`, https://github.com/pytorch/pytorch/issues/141865 (closed; a maintainer does not count it as a bug). It can
    go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def checked_dtype(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Refuse an `input` of another dtype than the `weight`, as plain torch does, unless autocast evens them out."""
    if input.dtype != weight.dtype and not torch.is_autocast_enabled(input.device.type):
        raise RuntimeError(f"input and weight must have the same dtype, but got {input.dtype} and {weight.dtype}")
    return upstream(input, weight, bias)


def _half() -> Tensor:
    return torch.full((1, 1), 0.5, dtype=torch.float16)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (torch.full((1, 1), 2.0, dtype=torch.float16, device=src.device),), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (torch.full((1, 1), 2.0, device=src.device), torch.zeros(1, device=src.device)), {}


DROP_INS = (
    DropIn(
        name="linear",
        upstream=upstream,
        documented=linear,
        strategies={"checked-dtype": checked_dtype, "disable": island(upstream)},
        records=("gh141865",),
        sample=Sample(arguments=_arguments, base=_half, edge=_edge, patterns=("result", "gradient")),
    ),
)
