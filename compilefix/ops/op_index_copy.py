"""``torch.index_copy`` and ``Tensor.index_copy_``."""

from __future__ import annotations

import torch

from compilefix.ops import checks
from compilefix.ops.clones import opaque_clone
from compilefix.ops.drop_in import DropIn, functional_strategies, in_place_strategies
from compilefix.ops.op_index_add import SAMPLE

Tensor = torch.Tensor
OP = "index_copy_"


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """
    Return `input` with the slices along `dim` that `index` names replaced by those of `source`.

    `input` itself is left alone. ``index_copy_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64, a vector or 0-dim. Where a position is named twice, which slice is written is not defined.
        source: of the dtype of `input`, and of its shape but for `dim`, along which it has as many slices as `index`
            elements.

    Raises:
        IndexError: an index is negative or too large (on the CPU), `dim` is out of range, or the numbers of dimensions
            or of slices do not fit.
        RuntimeError: dtypes or the shapes of slices do not fit.

    Upstream: compiled code takes a negative index, https://github.com/pytorch/pytorch/issues/197554. An expanded
    `input` is written as if all its slices were one, https://github.com/pytorch/pytorch/issues/183986 (right in
    2.14.1). The result is written in place although the input is overwritten later,
    https://github.com/pytorch/pytorch/issues/198094, and ``index_copy_`` followed by an update that reads other slices
    gives wrong values, https://github.com/pytorch/pytorch/issues/198270 (right in 2.15.0). It can go where
    ``compilefix status`` says off.

    """
    raise NotImplementedError


def _fit(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a checked copy of `index`; raise what upstream's own kernel raises."""
    position = checks.dimension(input, dim)
    checks.vector(index, IndexError, OP)
    slices = source.shape[position] if position < source.ndim else 1
    checks.require(
        source.ndim == input.ndim or 0 in (source.ndim, input.ndim),
        IndexError,
        lambda: (
            f"{OP}(): When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        ),
    )
    checks.as_many(index, slices)
    checks.require(
        index.dtype == torch.int64, RuntimeError, lambda: f"{OP}(): Expected a long tensor for index, got {index.dtype}"
    )
    checks.same_dtype(input, source, OP)
    checks.require(
        checks.without(source.shape, position) == checks.without(input.shape, position),
        RuntimeError,
        lambda: (
            f"{OP}(): Source/destination tensor must have same slice shapes along dimension {position}, "
            f"got {list(source.shape)} for {list(input.shape)}"
        ),
    )
    message = f"{OP}(): index {{index}} is out of bounds for dimension {{dim}} with size {{size}}"
    size = checks.size_along(input, position)
    checked: Tensor = checks.in_range(index, size, position, source.numel(), "IndexError", message)
    return checked


def _checked(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    return torch.index_copy(input, dim, _fit(input, dim, index, source), source)


def index_put(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write by ``index_put`` into an opaque copy."""
    if input.ndim == 0:
        return _checked(opaque_clone(input), dim, index, source)
    where = checks.along(input, checks.dimension(input, dim), _fit(input, dim, index, source))
    written: Tensor = torch.ops.aten.index_put(opaque_clone(input), where, source)
    return written


def scatter(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Spread the index over the shape of `source` and write by ``scatter`` into an opaque copy."""
    if input.ndim == 0 or source.ndim == 0:
        return _checked(opaque_clone(input), dim, index, source)
    index = checks.spread(_fit(input, dim, index, source), checks.dimension(input, dim), source.shape)
    return torch.scatter(opaque_clone(input), dim, index, source)


FUNCTIONAL = DropIn(
    name="index_copy",
    upstream=torch.index_copy,
    documented=index_copy,
    strategies={"checked": _checked} | functional_strategies(_checked, index_put=index_put, scatter=scatter),
    records=("gh183986", "gh197554", "gh198094"),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="index_copy_",
    upstream=torch.Tensor.index_copy_,
    documented=index_copy,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.index_copy_),
    records=("gh197554", "gh198094", "gh198270"),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
