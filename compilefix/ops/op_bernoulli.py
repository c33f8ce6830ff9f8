"""``torch.bernoulli``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.checks import probabilities, require
from compilefix.ops.drop_in import DropIn, Sample, island

Tensor = torch.Tensor


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: torch.Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """
    Return ones with the probabilities in `input`, else zeros, of its shape and dtype.

    Args:
        input: probabilities, any shape, floating; with `p` only shape and dtype count.
        p: one probability for all elements.
        generator: source of random numbers.
        out: where to put the result.

    Raises:
        RuntimeError: a probability is not in [0, 1] or is NaN.
        NotImplementedError: `input` holds integers (2.6.0: RuntimeError).

    Upstream: compiled code does not look at the probabilities, https://github.com/pytorch/pytorch/issues/185246. It can
    go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _checked(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    if args or kwargs.get("p") is not None:
        return torch.bernoulli(input, *args, **kwargs)
    require(
        input.is_floating_point(),
        NotImplementedError,
        lambda: f"bernoulli is not implemented for probabilities of dtype {input.dtype}",
    )
    checked = probabilities(input.detach())
    # The gradient is zero; the selection only keeps the result part of the graph that autograd knows.
    return torch.bernoulli(torch.where(torch.ones_like(checked, dtype=torch.bool), checked, input), **kwargs)


def _certain() -> Tensor:
    return torch.eye(6) * 1.5


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {}


DROP_INS = (
    DropIn(
        name="bernoulli",
        upstream=torch.bernoulli,
        documented=bernoulli,
        strategies={"checked": _checked, "disable": island(torch.bernoulli)},
        records=("gh185246",),
        sample=Sample(base=_certain, arguments=_arguments, edge=_arguments, patterns=("at_edge",)),
        notes={"checked": "reads all probabilities once more"},
    ),
)
