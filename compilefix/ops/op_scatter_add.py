"""``torch.scatter_add`` and ``Tensor.scatter_add_``."""

from __future__ import annotations

import torch

from compilefix.ops.drop_in import DropIn, functional_strategies, in_place_strategies
from compilefix.ops.op_scatter import SAMPLE, whole

Tensor = torch.Tensor


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """
    Return `input` with `src` added along `dim` at `index`; `input` itself is left alone.

    ``scatter_add_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 or int32, as many dimensions as `input`; at most the size of `src` everywhere, and of `input` in
            every dimension but `dim`. Positions named several times add up. Without elements it may have any dtype.
        src: tensor of the dtype of `input`. Its gradient needs `index` to have its shape.

    Raises:
        RuntimeError: shapes or dtypes do not fit, or an index is negative or too large.
        IndexError: `dim` is out of range.

    Upstream: an index of floating dtype without elements is refused when compiled,
    https://github.com/pytorch/pytorch/issues/188213 (right in 2.14.1). It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _lenient(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return torch.scatter_add(input, dim, whole(index), src)


FUNCTIONAL = DropIn(
    name="scatter_add",
    upstream=torch.scatter_add,
    documented=scatter_add,
    strategies={"cast-index": _lenient} | functional_strategies(_lenient),
    records=("gh188213",),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="scatter_add_",
    upstream=torch.Tensor.scatter_add_,
    documented=scatter_add,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.scatter_add_),
    records=("gh188213",),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
