"""Rules that read shapes only, as torch's plain operators have them; compiled code drops some of these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from compilefix.validation.call import BOOL_OR_BYTE, INTEGERS, Call
from compilefix.validation.faults import certain, show, unequal
from compilefix.validation.indexing import Layout, broadcast, expands


def dim_exists(call: Call) -> Iterator[str]:
    """Check that the dimension is one of the target's."""
    given = call.arguments.get("dim")
    if given is not None and call.dim is None:
        count = max(call.target.dim(), 1)
        yield f"dim {given} is outside [{-count}, {count}) of {call.spec.target} {show(call.shape)}"


def index_has_targets_rank(call: Call) -> Iterator[str]:
    """Check that index and target have as many dimensions; none counts as one."""
    if _free(call) or not isinstance(call.index, torch.Tensor):
        return
    if max(call.index.dim(), 1) != max(call.target.dim(), 1):
        yield f"{_index(call)} has {call.index.dim()} dimensions, {_target(call)} has {call.target.dim()}"


def index_fits_target(call: Call) -> Iterator[str]:
    """Check ``index.size(d) <= input.size(d)`` apart from the dimension that is indexed."""
    if _free(call) or call.dim is None or not isinstance(call.index, torch.Tensor):
        return
    for d, (n, most) in enumerate(zip(call.index.shape, call.shape, strict=False)):
        if d != call.dim and certain(n > most):
            limit = f"{call.spec.target}.size({d}) = {most}"
            yield f"{call.spec.index}.size({d}) = {n} is larger than {limit} (dim is {call.dim})"


def source_has_index_rank(call: Call) -> Iterator[str]:
    """Check that index and source have as many dimensions; none counts as one."""
    if call.source is None or _free(call):
        return
    if max(call.source.dim(), 1) != max(call.index.dim(), 1):
        yield f"{_source(call)} has {call.source.dim()} dimensions, {_index(call)} has {call.index.dim()}"


def index_fits_source(call: Call) -> Iterator[str]:
    """Check ``index.size(d) <= src.size(d)`` for every dimension."""
    if call.source is None or _free(call) or call.dim is None:
        return
    for d, (n, most) in enumerate(zip(call.index.shape or (1,), call.source.shape or (1,), strict=False)):
        if certain(n > most):
            yield f"index.size({d}) = {n} is larger than {call.spec.source}.size({d}) = {most}"


def index_is_a_row(call: Call) -> Iterator[str]:
    """Check that the index has at most one dimension."""
    if isinstance(call.index, torch.Tensor) and call.index.dim() > 1:
        yield f"index {show(call.index.shape)} must have one dimension"


def index_of_scalar_is_single(call: Call) -> Iterator[str]:
    """Check that at most one element is selected from a tensor without dimensions."""
    if call.target.dim() == 0 and certain(call.index.numel() != 1):
        yield f"index {show(call.index.shape)} must have one element, {_target(call)} has no dimensions"


def source_is_target_with_rows(call: Call) -> Iterator[str]:
    """Check index_add's source: the target's shape, but as long as the index along `dim`."""
    if call.source is None or call.dim is None or call.index.dim() > 1:
        return
    if call.source.dim() != call.target.dim():
        yield f"{_source(call)} has {call.source.dim()} dimensions, {_target(call)} has {call.target.dim()}"
    else:
        yield from _slices(call, call.source, call.shape)
    yield from _count(call, call.source)


def source_is_rows_to_copy(call: Call) -> Iterator[str]:
    """Check index_copy's source: as index_add's, but a single row may go without its dimension."""
    if call.source is None or call.dim is None or call.index.dim() > 1:
        return
    if call.source.dim() and call.target.dim() and call.source.dim() != call.target.dim():
        yield f"{_source(call)} has {call.source.dim()} dimensions, {_target(call)} has {call.target.dim()}"
    elif max(call.source.dim(), 1) != max(call.target.dim(), 1):
        yield f"{_source(call)} does not have the shape of a slice of {_target(call)}"
    else:
        yield from _slices(call, call.source, call.shape)
    yield from _count(call, call.source)


def value_is_a_number(call: Call) -> Iterator[str]:
    """Check that a value given as a tensor has no dimensions."""
    if call.source is not None and call.source.dim():
        yield f"{_source(call)} must be a number or have no dimensions"


def weight_is_a_table(call: Call) -> Iterator[str]:
    """Check that embedding's weight has two dimensions."""
    if call.target.dim() != 2:
        yield f"{_target(call)} must have two dimensions"


def indices_broadcast(call: Call) -> Iterator[str]:
    """Check take_along_dim's indices: the target's rank, and sizes that broadcast apart from `dim`."""
    index, dim = call.index, call.dim
    if call.arguments.get("dim") is not None and call.target.dim() == 0:
        yield f"dim {call.arguments['dim']} is given, input has no dimensions"
    if not isinstance(index, torch.Tensor) or dim is None or call.arguments.get("dim") is None:
        return
    if index.dim() != call.target.dim():
        yield f"indices {show(index.shape)} has {index.dim()} dimensions, {_target(call)} has {call.target.dim()}"
        return
    for d, (n, m) in enumerate(zip(index.shape, call.shape, strict=True)):
        if d != dim and certain(n != m) and certain(n != 1) and certain(m != 1):
            yield f"indices.size({d}) = {n} does not broadcast with input.size({d}) = {m} (dim is {dim})"


def mask_broadcasts(call: Call) -> Iterator[str]:
    """Check that the mask broadcasts with the target, and in place to the target."""
    shape = tuple(call.index.shape)
    if call.in_place and not expands(shape, call.shape):
        yield f"mask {show(shape)} does not broadcast to {_target(call)}, which is written in place"
    elif broadcast([shape, call.shape]) is None:
        yield f"mask {show(shape)} does not broadcast with {_target(call)}"


def subscripts_fit(call: Call) -> Iterator[str]:
    """Check the number of subscripts, the shapes of masks, and that index tensors broadcast together."""
    layout = _layout(call)
    if layout is None:
        return
    if layout.consumed > call.target.dim():
        yield f"{layout.consumed} dimensions are indexed, {_target(call)} has {call.target.dim()}"
        return
    for number, item, dim in layout.parts:
        if isinstance(item, int) and dim is not None and (item >= call.shape[dim] or item < -call.shape[dim]):
            size, name = call.shape[dim], layout.label(number, call.spec.index)
            yield f"{name} = {item} is outside [{-size}, {size}) of dim {dim} of {_target(call)}"
    fits = True
    for number, item, dim in layout.tensors:
        wanted = call.shape[dim : dim + item.dim()] if dim is not None else ()
        if item.dtype in BOOL_OR_BYTE and unequal(item.shape, wanted):
            fits = False
            name = f"mask {layout.label(number, 'index')} {show(item.shape)}"
            yield f"{name} must have the shape {show(wanted)} of {_target(call)} from dim {dim}"
    if not fits:
        return
    if call.readable:
        layout = layout.without_masks()
    shapes = [tuple(item.shape) for _, item, _ in layout.tensors]
    if not layout.masked and broadcast(shapes) is None:
        yield f"index tensors of shapes {', '.join(map(show, shapes))} do not broadcast together"


def value_broadcasts(call: Call) -> Iterator[str]:
    """Check that assigned values broadcast to the indexed places."""
    layout = _layout(call)
    if call.source is None or layout is None or next(subscripts_fit(call), None) is not None:
        return
    if call.readable and not _fills(call, layout):
        layout = layout.without_masks()
    if (placed := layout.result()) is None:
        return
    shape = list(call.source.shape)
    while call.spec.brackets and len(shape) > len(placed[0]) and certain(shape[0] == 1):
        del shape[0]
    if not expands(shape, placed[0]):
        yield f"{_source(call)} does not broadcast to the indexed places {show(placed[0])} of {_target(call)}"


def _fills(call: Call, layout: Layout) -> bool:
    """Tell whether torch fills a single value in under a mask, whatever dimensions it has."""
    return layout.masked and call.source is not None and call.source.numel() == 1


def _layout(call: Call) -> Layout | None:
    layout = Layout.of(call.index, call.shape, brackets=call.spec.brackets)
    known = layout is not None and all(item.dtype in INTEGERS | BOOL_OR_BYTE for _, item, _ in layout.tensors)
    return layout if known else None


def _slices(call: Call, source: torch.Tensor, shape: tuple[int, ...]) -> Iterator[str]:
    for d, (n, m) in enumerate(zip(source.shape, shape, strict=False)):
        if d != call.dim and certain(n != m):
            yield f"{call.spec.source}.size({d}) = {n} must be {call.spec.target}.size({d}) = {m} (dim is {call.dim})"


def _count(call: Call, source: torch.Tensor) -> Iterator[str]:
    if source.dim() > (call.dim or 0) or source.dim() == 0:
        found = source.shape[call.dim or 0] if source.dim() else 1
        if certain(call.index.numel() != found):
            yield f"index has {call.index.numel()} elements, {call.spec.source}.size({call.dim}) = {found}"


def _free(call: Call) -> bool:
    index: Any = call.index
    return call.spec.empty_index_is_free and isinstance(index, torch.Tensor) and certain(index.numel() == 0)


def _target(call: Call) -> str:
    return f"{call.spec.target} {show(call.shape)}"


def _index(call: Call) -> str:
    return f"{call.spec.index} {show(call.index.shape)}"


def _source(call: Call) -> str:
    assert call.source is not None
    return f"{call.spec.source} {show(call.source.shape)}"
