"""``torch.scatter`` and ``Tensor.scatter_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies

Tensor = torch.Tensor


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | float, *, reduce: str | None = None) -> Tensor:
    """
    Return `input` with ``src`` written along `dim` at `index`; `input` itself is left alone.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 (int32 where torch accepts it), as many dimensions as `input`; at most the size of `src`
            everywhere, and of `input` in every dimension but `dim`.
        src: tensor of the dtype of `input`, or a number (upstream's keyword ``value``).
        reduce: ``"add"`` or ``"multiply"``; prefer `scatter_reduce`.

    Raises:
        RuntimeError: shapes or dtypes do not fit, or an index is out of range.

    Upstream: a functional scatter whose input is overwritten later is written in place by Inductor,
    https://github.com/pytorch/pytorch/issues/198094; a float index without elements is refused when compiled,
    https://github.com/pytorch/pytorch/issues/188213 (fixed in 2.14.1). It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    index = torch.tensor([[0, 2, 1, 5, 4, 3], [3, 1, 2, 0, 5, 4]])
    return (0, index, src), {}


SAMPLE = Sample(source=lambda base: base[2:4], arguments=_arguments)
FUNCTIONAL = DropIn(
    name="scatter",
    upstream=torch.scatter,
    documented=scatter,
    strategies=functional_strategies(torch.scatter),
    records=("gh198094",),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="scatter_",
    upstream=torch.Tensor.scatter_,
    documented=scatter,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.scatter_),
    records=(),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
