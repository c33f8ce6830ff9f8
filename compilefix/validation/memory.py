"""Rules on the memory that an in-place operator writes. They need real tensors, so they hold outside of graphs only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from compilefix.oracle.memory import overlaps
from compilefix.validation.call import Call
from compilefix.validation.faults import certain, show
from compilefix.validation.indexing import Layout
from compilefix.validation.shapes import subscripts_fit


def no_leaf(call: Call) -> Iterator[str]:
    """Check that autograd may see the target overwritten."""
    target, name = call.target, f"{call.spec.target} {show(call.shape)}"
    if not torch.is_grad_enabled() or not target.requires_grad:
        return
    if target.is_leaf:
        yield f"{name} is a leaf that requires grad, it cannot be written in place"
    elif target._base is not None and target._base.is_leaf and target._base.requires_grad:
        base = show(target._base.shape)
        yield f"{name} is a view of a leaf {base} that requires grad, it cannot be written in place"


def not_expanded(call: Call) -> Iterator[str]:
    """Check that no two elements of the target are one place in memory, as after ``expand``."""
    if call.target.numel() == 0:
        return
    for d, (size, stride) in enumerate(zip(call.shape, call.target.stride(), strict=True)):
        if stride == 0 and certain(size > 1):
            target = f"{call.spec.target} {show(call.shape)}"
            yield f"dim {d} of {target} is expanded, its {size} elements are one place in memory"


def no_overlap(call: Call) -> Iterator[str]:
    """Check that neither the source nor an index lies in the memory that is written."""
    view = _written_view(call)
    if view is None:
        return
    others: list[tuple[str, Any]] = [(index.label, index.tensor) for index in call.indices]
    if call.source is not None and not _taken_as_number(call):
        others.append((str(call.spec.source), call.source))
    for name, tensor in others:
        if overlaps((call.spec.target, view), (name, tensor)):
            target = f"{call.spec.target} {show(call.shape)}"
            yield f"{name} {show(tensor.shape)} shares memory with {target}, which is written in place"


def _taken_as_number(call: Call) -> bool:
    """Tell whether torch reads the value before it writes: a single one, filled in under a mask."""
    layout = Layout.of(call.index, call.shape, brackets=True) if call.spec.brackets else None
    return layout is not None and layout.masked and call.source is not None and call.source.numel() == 1


def _written_view(call: Call) -> torch.Tensor | None:
    """Return the part of the target that index tensors write; None for integers and slices alone, which copy."""
    if not call.spec.brackets:
        return call.target
    layout = Layout.of(call.index, call.shape, brackets=True)
    if layout is None or not layout.tensors or layout.consumed > call.target.dim():
        return None
    if next(subscripts_fit(call), None) is not None:
        return None
    kept: list[Any] = []
    for _, item, _ in layout.parts:
        if isinstance(item, torch.Tensor):
            kept += [slice(None)] * (item.dim() if item.dtype in (torch.bool, torch.uint8) else 1)
        elif item is not None:
            kept.append(item)
    return call.target.detach()[tuple(kept)]
