"""``torch.index_add`` and ``Tensor.index_add_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops import checks
from compilefix.ops.clones import opaque_clone
from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies

Tensor = torch.Tensor
Number = bool | int | float | complex
OP = "index_add_"


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """
    Return `input` with ``alpha * source`` added along `dim` at `index`; `input` itself is left alone.

    ``index_add_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 or int32, a vector or 0-dim. Positions named several times add up.
        source: of the dtype of `input`, and of its shape but for `dim`, along which it has as many slices as `index`
            elements.
        alpha: factor; must not be floating for an `input` of integers.

    Raises:
        RuntimeError: dtypes or shapes do not fit, or an index is negative or too large.
        IndexError: `index` has two dimensions or more, or `dim` is out of range.

    Upstream: compiled code takes a negative index, https://github.com/pytorch/pytorch/issues/185885, and a source of
    another shape or dtype, https://github.com/pytorch/pytorch/issues/121135. On an expanded `input` it adds all slices
    to the one that is shared, https://github.com/pytorch/pytorch/issues/183986 (right in 2.14.1), and it is written in
    place although the input is overwritten later, https://github.com/pytorch/pytorch/issues/198094. An update that
    reads other slices right after ``index_add_`` gives wrong values,
    https://github.com/pytorch/pytorch/issues/198270 (right in 2.15.0). It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _fit(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a checked copy of `index`; raise what upstream's own kernel raises."""
    position = checks.dimension(input, dim)
    checks.vector(index, IndexError, OP)
    checks.integral(index, OP)
    checks.same_dtype(input, source, OP)
    inner = source.ndim and input.ndim
    have = checks.without(source.shape, position) if inner else tuple(source.shape)
    want = checks.without(input.shape, position) if inner else tuple(input.shape)
    checks.require(
        position < max(source.ndim, 1) and have == want,
        RuntimeError,
        lambda: (
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        ),
    )
    slices = source.shape[position] if source.ndim else 1
    checks.as_many(index, slices)
    message = "index {index} is out of bounds for dimension {dim} with size {size}"
    size = checks.size_along(input, position)
    checked: Tensor = checks.in_range(index, size, position, source.numel(), "RuntimeError", message)
    return checked


def _checked(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    return torch.index_add(input, dim, _fit(input, dim, index, source), source, alpha=alpha)


def index_put(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """Accumulate by ``index_put`` into an opaque copy."""
    if input.ndim == 0 or alpha != 1:
        return _checked(opaque_clone(input), dim, index, source, alpha=alpha)
    index = _fit(input, dim, index, source)
    where = checks.along(input, checks.dimension(input, dim), index)
    written: Tensor = torch.ops.aten.index_put(opaque_clone(input), where, source, True)
    return written


def scatter_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """Spread the index over the shape of `source` and add by ``scatter_add`` into an opaque copy."""
    if input.ndim == 0 or source.ndim == 0 or alpha != 1:
        return _checked(opaque_clone(input), dim, index, source, alpha=alpha)
    index = checks.spread(_fit(input, dim, index, source), checks.dimension(input, dim), source.shape)
    return torch.scatter_add(opaque_clone(input), dim, index, source)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([4, 1], device=src.device), src), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([4, -1], device=src.device), src), {}


SAMPLE = Sample(source=lambda base: base[3:5], arguments=_arguments, edge=_edge)
FUNCTIONAL = DropIn(
    name="index_add",
    upstream=torch.index_add,
    documented=index_add,
    strategies={"checked": _checked} | functional_strategies(_checked, index_put=index_put, scatter_add=scatter_add),
    records=("gh121135", "gh183986", "gh185885", "gh198094"),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="index_add_",
    upstream=torch.Tensor.index_add_,
    documented=index_add,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.index_add_),
    records=("gh121135", "gh185885", "gh198094", "gh198270"),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
