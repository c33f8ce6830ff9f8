"""``torch.index_put`` and ``torch.index_put_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops import checks
from compilefix.ops.clones import opaque_clone
from compilefix.ops.drop_in import DropIn, Sample, functional_strategies, in_place_strategies

Tensor = torch.Tensor


def index_put(input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False) -> Tensor:
    """
    Return `input` with ``input[indices]`` replaced by `values`; `input` itself is left alone.

    ``index_put_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        indices: for the leading dimensions of `input`, integers of shapes that broadcast together (negative ones count
            from the end) or masks (bool, of the shape of the dimensions they stand for).
        values: of the dtype of `input`; broadcast to the shape of ``input[indices]``.
        accumulate: add to what is there. Otherwise, where a position is named twice, which element is written is not
            defined.

    Raises:
        IndexError: too many or ill-shaped indices, a dtype that is none, or one out of range (a RuntimeError when
            compiled).
        RuntimeError: dtypes differ, or `values` cannot be broadcast.

    Upstream: on an expanded `input` Inductor writes all slices, https://github.com/pytorch/pytorch/issues/183986 (right
    in 2.14.1), and the result is written in place although the input is overwritten later,
    https://github.com/pytorch/pytorch/issues/198094. Compiled code also casts `values` of another dtype, which plain
    torch refuses, https://github.com/pytorch/pytorch/issues/197554, and an update that reads other slices right after
    ``index_put_`` gives wrong values, https://github.com/pytorch/pytorch/issues/198270 (right in 2.15.0). It can go
    where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _fills(indices: tuple[Tensor, ...], values: Tensor) -> bool:
    """Tell whether upstream takes it for a ``masked_fill``, which casts its value."""
    return len(indices) == 1 and indices[0].dtype in (torch.bool, torch.uint8) and values.numel() == 1


def _checked(input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False) -> Tensor:
    checks.require(
        input.dtype == values.dtype or (not accumulate and _fills(indices, values)),
        RuntimeError,
        lambda: (
            "Index put requires the source and destination dtypes match, "
            f"got {input.dtype} for the destination and {values.dtype} for the source."
        ),
    )
    return torch.index_put(input, indices, values, accumulate)


def assign(input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False) -> Tensor:
    """Assign to a clone, as is often advised; ``index_put`` on that clone where values accumulate."""
    out = input.clone()
    if accumulate or input.dtype != values.dtype or not indices:
        return _checked(out, indices, values, accumulate)
    out[tuple(indices)] = values
    return out


def _apart(input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False) -> Tensor:
    """Write into an opaque copy; whatever else may be a view of it is copied as well."""
    kept = tuple(opaque_clone(i) if i.dtype == input.dtype else i for i in indices)
    values = opaque_clone(values) if values.dtype == input.dtype else values
    return _checked(opaque_clone(input), kept, values, accumulate)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return ((torch.tensor([4, -5], device=src.device),), src), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return ((torch.tensor([4, -5], device=src.device),), src.to(torch.float64)), {}


SAMPLE = Sample(source=lambda base: base[3:5], arguments=_arguments, edge=_edge)
FUNCTIONAL = DropIn(
    name="index_put",
    upstream=torch.index_put,
    documented=index_put,
    strategies={"checked": _checked} | functional_strategies(_checked, assign=assign) | {"opaque-clone": _apart},
    records=("gh183986", "gh197554", "gh198094"),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="index_put_",
    upstream=torch.index_put_,
    documented=index_put,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.index_put_),
    records=("gh197554", "gh198094", "gh198270"),
    sample=SAMPLE,
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
