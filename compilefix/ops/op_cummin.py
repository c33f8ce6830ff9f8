"""``torch.cummin``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, island
from compilefix.ops.positions import wrapped

Tensor = torch.Tensor


def cummin(
    input: Tensor, dim: int, *, out: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, Tensor]:  # upstream's named tuple
    """
    Return the cumulative minimum along `dim` and where it was found, as ``(values, indices)``.

    Args:
        input: real, any shape.
        dim: dimension to run along; may be negative.
        out: where to put values and indices (int64).

    Raises:
        IndexError: `dim` is out of range. For an empty `input` torch says so only after 2.13.0; until then it returns
            empty tensors.

    Upstream: an empty `input` with a `dim` out of range ends in an internal error when compiled,
    https://github.com/pytorch/pytorch/issues/188224. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _tolerant() -> bool:
    """Tell whether this torch takes any dimension for an empty tensor."""
    try:
        torch.cummin(torch.empty(0), 7)
    except IndexError:
        return False
    return True


_TOLERANT = _tolerant()


def checked_dim(input: Tensor, dim: int, *, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """Look at the dimension of an empty tensor first: do what plain torch does where it is out of range."""
    if isinstance(dim, int) and wrapped(dim, max(input.ndim, 1)) is None and input.numel() == 0:
        if not _TOLERANT:
            input.transpose(dim, dim)  # raises the IndexError while compiling, where cummin itself does not
        dim = 0
    return torch.cummin(input, dim) if out is None else torch.cummin(input, dim, out=out)


def _nothing() -> Tensor:
    return torch.ones(0)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (0,), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (7,), {}


DROP_INS = (
    DropIn(
        name="cummin",
        upstream=torch.cummin,
        documented=cummin,
        strategies={"checked-dim": checked_dim, "disable": island(torch.cummin)},
        records=("gh188224",),
        sample=Sample(arguments=_arguments, base=_nothing, edge=_edge, patterns=("result",)),
    ),
)
