"""``torch.nn.functional.gaussian_nll_loss``."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn.functional import gaussian_nll_loss as upstream

from compilefix.ops.drop_in import DropIn, Sample

Tensor = torch.Tensor


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """
    Return the negative log likelihood of `target` under normal distributions.

    Args:
        input: expected values, floats of any shape.
        target: observed values, of a shape that broadcasts with `input`.
        var: variances, not negative; of the shape of `input`, of that with a last (in recent releases: any one)
            dimension of size 1, of that without its last dimension, or a number where torch accepts one.
        full: whether to add the constant term.
        eps: variances below it are replaced by it; the gradient passes through.
        reduction: ``none``, ``mean`` or ``sum``.

    Raises:
        ValueError: `var` has the wrong size, or `reduction` does not exist.
        RuntimeError: `var` has negative entries; plain torch raises ValueError for that.

    Upstream: the look at the variances breaks the graph, https://github.com/pytorch/pytorch/issues/194503. It can go
    where ``compilefix status`` says off.

    """
    raise NotImplementedError


def asserted(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Assert on the device that no variance is negative; the formula is upstream's."""
    if not isinstance(var, torch.Tensor) or reduction not in ("none", "mean", "sum"):
        return upstream(input, target, var, full, eps, reduction)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not _broadcasts(var, input):
            return upstream(input, target, var, full, eps, reduction)
    torch._assert_async(~(var < 0).any(), "var has negative entry/entries")
    var = torch.where(var < eps, var + (eps - var).detach(), var)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _broadcasts(var: Tensor, input: Tensor) -> bool:
    """Tell whether exactly one dimension of `var` is 1 where that of `input` is not."""
    if var.ndim != input.ndim:
        return False
    return sum(mine for theirs, mine in zip(input.shape, var.shape, strict=True) if theirs != mine) == 1


def _means() -> Tensor:
    return torch.linspace(-1.0, 1.0, 6)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (torch.linspace(1.0, -1.0, 6, device=src.device), torch.full((6,), 0.5, device=src.device)), {}


DROP_INS = (
    DropIn(
        name="gaussian_nll_loss",
        upstream=upstream,
        documented=gaussian_nll_loss,
        strategies={"asserted": asserted},
        records=("gh194503",),
        sample=Sample(arguments=_arguments, base=_means, patterns=("result", "gradient")),
    ),
)
