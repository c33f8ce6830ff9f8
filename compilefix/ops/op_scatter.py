"""``torch.scatter`` and ``Tensor.scatter_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies

Tensor = torch.Tensor


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | float, *, reduce: str | None = None) -> Tensor:
    """
    Return `input` with `src` written along `dim` at `index`; `input` itself is left alone.

    ``scatter_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 or int32, as many dimensions as `input`; at most the size of `src` everywhere, and of `input` in
            every dimension but `dim`. Without elements it may have any dtype, and nothing is written.
        src: tensor of the dtype of `input`, or a number (upstream's keyword ``value``). Where `index` names a position
            twice, which element is written is not defined.
        reduce: ``"add"`` or ``"multiply"``, without a gradient; prefer `scatter_reduce`.

    Raises:
        RuntimeError: shapes or dtypes do not fit, or an index is negative or too large.
        IndexError: `dim` is out of range.

    Upstream: an index of floating dtype without elements is refused when compiled,
    https://github.com/pytorch/pytorch/issues/188213 (right in 2.14.1). It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def whole(index: Tensor) -> Tensor:
    """Return `index`, as int64 where it has no elements: eager torch accepts any dtype then, Inductor does not."""
    if index.dtype not in (torch.int32, torch.int64) and index.numel() == 0:
        return index.to(torch.int64)
    return index


def _lenient(input: Tensor, dim: int, index: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    return torch.scatter(input, dim, whole(index), *args, **kwargs)


def rows(src: Tensor | None) -> Tensor:
    """Return the index of the samples: shape (2, 6), no position twice in a column."""
    assert src is not None
    return torch.tensor([[0, 2, 1, 5, 4, 3], [3, 1, 2, 0, 5, 4]], device=src.device)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (0, rows(src), src), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, src.new_ones(0, 6), src), {}


SAMPLE = Sample(source=lambda base: base[2:4], arguments=_arguments, edge=_edge)
FUNCTIONAL = DropIn(
    name="scatter",
    upstream=torch.scatter,
    documented=scatter,
    strategies={"cast-index": _lenient} | functional_strategies(_lenient),
    records=("gh188213",),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="scatter_",
    upstream=torch.Tensor.scatter_,
    documented=scatter,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.scatter_),
    records=("gh188213",),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
