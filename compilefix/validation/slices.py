"""Shapes of what slice_scatter, select_scatter, diagonal_scatter and as_strided_scatter write."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.validation.call import Call
from compilefix.validation.faults import certain, show, unequal


def slice_is_filled(call: Call) -> Iterator[str]:
    """Check that the source has the shape of ``input[start:end:step]`` along `dim`."""
    start, end, step = (call.arguments[name] for name in ("start", "end", "step"))
    if not call.target.dim():
        yield "input has no dimensions, so it has no slice"
    if call.dim is None or not call.target.dim() or not all(isinstance(k, int | None) for k in (start, end, step)):
        return
    if step < 1:
        yield f"step = {step} must be positive"
        return
    size = call.shape[call.dim]
    if not isinstance(size, int):
        return
    wanted = list(call.shape)
    wanted[call.dim] = len(range(*slice(start, end, step).indices(size)))
    yield from _is(call, wanted, f"the slice {start}:{end}:{step} along dim {call.dim}")


def selection_is_filled(call: Call) -> Iterator[str]:
    """Check select_scatter's index and that the source has the target's shape without `dim`."""
    index = call.arguments["index"]
    if not call.target.dim():
        yield "input has no dimensions, so there is none to select from"
    if call.dim is None or not isinstance(index, int) or not call.target.dim():
        return
    size = call.shape[call.dim]
    if certain(index >= size) or certain(index < -size):
        yield f"index {index} is outside [{-size}, {size}) of dim {call.dim} of input {show(call.shape)}"
    yield from _is(call, [n for d, n in enumerate(call.shape) if d != call.dim], f"input without dim {call.dim}")


def diagonal_is_filled(call: Call) -> Iterator[str]:
    """Check that the source has the shape of ``input.diagonal(offset, dim1, dim2)``."""
    rank = call.target.dim()
    offset, *dims = (call.arguments[name] for name in ("offset", "dim1", "dim2"))
    bad = [dim for dim in dims if not -rank <= dim < rank]
    if bad:
        yield from (f"dim {dim} is outside [{-rank}, {rank}) of input {show(call.shape)}" for dim in bad)
        return
    first, second = (dim % rank for dim in dims)
    if first == second:
        yield f"dim1 and dim2 are both dim {first} of input {show(call.shape)}"
        return
    n, m = call.shape[first], call.shape[second]
    length = max(min(n, m - offset) if offset >= 0 else min(n + offset, m), 0)
    wanted = [size for d, size in enumerate(call.shape) if d not in (first, second)]
    yield from _is(call, [*wanted, length], f"the diagonal {offset} of dims {first} and {second}")


def strided_view_is_filled(call: Call) -> Iterator[str]:
    """Check that the source has the view's shape, that the view lies in the storage and has no place twice."""
    size, stride, offset = (call.arguments[name] for name in ("size", "stride", "storage_offset"))
    offset = call.target.storage_offset() if offset is None else offset
    yield from _is(call, list(size), "the strided view")
    if len(size) != len(stride):
        yield f"size {show(size)} and stride {show(stride)} differ in length"
        return
    if any(certain(n == 0) for n in size):
        return
    if any(certain(n > 1) and s == 0 for n, s in zip(size, stride, strict=True)):
        yield f"size {show(size)} with stride {show(stride)} writes one place several times"
    held = call.target.untyped_storage().nbytes() // call.target.element_size()
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if certain(last >= held):
        view = f"size {show(size)}, stride {show(stride)}, storage_offset {offset}"
        yield f"{view} ends at element {last}, the storage of input {show(call.shape)} has {held}"


def _is(call: Call, wanted: list[int], what: str) -> Iterator[str]:
    if call.source is not None and unequal(call.source.shape, wanted):
        yield f"src {show(call.source.shape)} must have the shape {show(wanted)} of {what}, input is {show(call.shape)}"
