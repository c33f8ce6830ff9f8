"""``torch.nn.functional.smooth_l1_loss``."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import smooth_l1_loss as upstream

from compilefix.ops.drop_in import DropIn, Sample, island

Tensor = torch.Tensor


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """
    Return the squared difference where it is below `beta`, the absolute one elsewhere.

    Args:
        input: floats, any shape.
        target: floats, of a shape that broadcasts with `input`.
        size_average: deprecated; see `reduction`.
        reduce: deprecated; see `reduction`.
        reduction: ``none`` (the common shape), ``mean`` or ``sum`` (0-dim).
        beta: difference at which the two parts meet; not negative, and 0 is the absolute difference.

    Raises:
        RuntimeError: `beta` is negative.
        ValueError: `reduction` does not exist.

    Upstream: a negative `beta` is accepted when compiled, https://github.com/pytorch/pytorch/issues/194501. It can go
    where ``compilefix status`` says off.

    """
    raise NotImplementedError


def checked_beta(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Refuse a negative `beta`, as the operator does."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return upstream(input, target, size_average, reduce, reduction, beta)


def _difference() -> Tensor:
    return torch.tensor([2.0, -1.0])


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (torch.tensor([0.5, 0.5], device=src.device),), {"beta": 0.5}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, _ = _arguments(src)
    return args, {"beta": -1.0}


DROP_INS = (
    DropIn(
        name="smooth_l1_loss",
        upstream=upstream,
        documented=smooth_l1_loss,
        strategies={"checked-beta": checked_beta, "disable": island(upstream)},
        records=("gh194501",),
        sample=Sample(arguments=_arguments, base=_difference, edge=_edge, patterns=("result", "gradient")),
    ),
)
