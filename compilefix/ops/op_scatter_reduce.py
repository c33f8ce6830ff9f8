"""``torch.scatter_reduce`` and ``Tensor.scatter_reduce_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies
from compilefix.ops.op_scatter import rows, whole

Tensor = torch.Tensor


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """
    Return `input` with `src` reduced into it along `dim` at `index`; `input` itself is left alone.

    ``scatter_reduce_`` does the same in place and returns its first argument.

    Args:
        input: any shape, real dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 or int32, as many dimensions as `input`; at most the size of `src` everywhere, and of `input` in
            every dimension but `dim`. Without elements it may have any dtype.
        src: tensor of the dtype of `input`. Its gradient needs `index` to have its shape.
        reduce: ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.
        include_self: take the elements of `input` into the reduction; with ``"mean"`` they count in the divisor.
            Elements that no index names stay in either case.

    Raises:
        RuntimeError: shapes or dtypes do not fit, an index is negative or too large, or `reduce` is another word.
        IndexError: `dim` is out of range.

    Upstream: no record is known to affect it, so it is torch's own. Its strategies are there to be taken by hand; they
    also let an index without elements have any dtype.

    """
    raise NotImplementedError


def _lenient(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    return torch.scatter_reduce(input, dim, whole(index), src, reduce, include_self=include_self)


PATTERNS = (
    *("overwritten", "copied_back", "shifted", "expanded", "result", "copied_back_cloned", "shifted_cloned"),
    *("intermediate", "beside_output", "custom_operand", "custom_result", "custom_clone", "transposed", "dtype_viewed"),
    *("loop_kept", "loop_carried", "written_before", "source_overwritten", "twice", "gradient"),
    *("on_clone", "then_flipped", "on_input", "then_custom", "on_transposed", "on_dtype_view", "on_shifted", "in_loop"),
    "on_intermediate_gradient",
)
"""All but ``gradient_overwritten``: upstream keeps its input for backward, and a change to it is an error."""


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (0, rows(src), src, "sum"), {}


SAMPLE = Sample(source=lambda base: base[2:4], arguments=_arguments, patterns=PATTERNS)
FUNCTIONAL = DropIn(
    name="scatter_reduce",
    upstream=torch.scatter_reduce,
    documented=scatter_reduce,
    strategies={"cast-index": _lenient} | functional_strategies(_lenient),
    records=(),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="scatter_reduce_",
    upstream=torch.Tensor.scatter_reduce_,
    documented=scatter_reduce,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.scatter_reduce_, saved=True),
    records=(),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
