"""Which index tensor picks from which dimension of the target, and what it writes there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from compilefix.validation.call import Call, Index, Spec
from compilefix.validation.faults import certain
from compilefix.validation.indexing import Layout
from compilefix.validation.shapes import subscripts_fit


def along_dim(spec: Spec, target: torch.Tensor, arguments: Mapping[str, Any]) -> tuple[Index, ...]:
    """Locate the index of an operator that takes one dimension."""
    index, dim = arguments[spec.index], arguments["dim"]
    if not isinstance(index, torch.Tensor) or dim is None:
        return ()
    return (Index(spec.index, index, dim, target.shape[dim] if target.dim() else 1),)


def along_dim_or_flat(spec: Spec, target: torch.Tensor, arguments: Mapping[str, Any]) -> tuple[Index, ...]:
    """Locate the index of take_along_dim, which flattens the target where no dimension is given."""
    index = arguments[spec.index]
    if arguments["dim"] is None and isinstance(index, torch.Tensor):
        return (Index(spec.index, index, None, math.prod(target.shape)),)
    return along_dim(spec, target, arguments)


def rows(spec: Spec, target: torch.Tensor, arguments: Mapping[str, Any]) -> tuple[Index, ...]:
    """Locate the index of embedding."""
    index = arguments[spec.index]
    return (Index(spec.index, index, 0, target.shape[0]),) if isinstance(index, torch.Tensor) and target.dim() else ()


def mask(spec: Spec, target: torch.Tensor, arguments: Mapping[str, Any]) -> tuple[Index, ...]:
    """Locate a mask, which picks from the flattened target."""
    found = arguments[spec.index]
    return (Index(spec.index, found, None, math.prod(target.shape)),) if isinstance(found, torch.Tensor) else ()


def subscripts(spec: Spec, target: torch.Tensor, arguments: Mapping[str, Any]) -> tuple[Index, ...]:
    """Locate the tensors of integers between square brackets."""
    layout = Layout.of(arguments[spec.index], tuple(target.shape), brackets=spec.brackets)
    return layout.indices(spec.index) if layout else ()


def rest_is_empty(call: Call) -> bool:
    """Tell whether the target has no element at any place along `dim`."""
    return any(certain(size == 0) for dim, size in enumerate(call.shape) if dim != call.dim)


def target_is_empty(call: Call) -> bool:
    """Tell whether a target of several dimensions has no element."""
    return call.target.dim() > 1 and certain(call.target.numel() == 0)


def result_is_empty(call: Call) -> bool:
    """Tell whether subscripts pick no element; with masks, whether the dimensions without a subscript have none."""
    layout = Layout.of(call.index, call.shape, brackets=call.spec.brackets)
    if layout is None or layout.consumed > len(call.shape):
        return False
    if call.readable and layout.masked and next(subscripts_fit(call), None) is None:
        layout = layout.without_masks()
    placed = layout.result()
    sizes = placed[0] if placed else layout.whole_sizes
    return any(certain(size == 0) for size in sizes)


def written_by_scatter(call: Call) -> torch.Tensor | None:
    """Return the part of the source that scatter reads, in the index's shape; None with a reduction."""
    if call.source is None or call.arguments.get("reduce") is not None:
        return None
    index, found = call.indices[0].tensor, call.source.detach()
    if certain(index.numel() == 0):
        return None
    if index.dim() != found.dim():  # one of them has no dimension
        return found.reshape(index.shape)
    for dim, size in enumerate(index.shape):
        found = found.narrow(dim, 0, size)
    return found


def written_by_copy(call: Call) -> torch.Tensor | None:
    """Return the source of index_copy, one row an index."""
    if call.source is None or call.dim is None:
        return None
    source = call.source.detach()
    return source.movedim(call.dim, 0) if source.dim() else source.reshape(1)


def written_by_subscripts(call: Call) -> torch.Tensor | None:
    """Return the values of an indexed assignment, index dimensions first; None where they are summed or masked."""
    if call.source is None or call.arguments.get("accumulate"):
        return None
    layout = Layout.of(call.index, call.shape, brackets=call.spec.brackets)
    if layout is None or layout.masked or (placed := layout.result()) is None:
        return None
    shape, start, count = placed
    value = call.source.detach()
    while value.dim() > len(shape):
        value = value[0]
    block = range(start, start + count)
    return value.expand(shape).movedim(tuple(block), tuple(range(count)))
