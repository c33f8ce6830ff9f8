"""Rules on dtypes and devices."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from compilefix.validation.call import BOOL_OR_BYTE, INTEGERS, Call
from compilefix.validation.faults import dtype_name
from compilefix.validation.indexing import Layout


def index_dtype(call: Call) -> Iterator[str]:
    """Check that the index has one of the dtypes that the operator takes."""
    index = call.index
    if not isinstance(index, torch.Tensor) or (call.spec.empty_index_is_free and index.numel() == 0):
        return
    if index.dtype not in call.spec.index_dtypes:
        yield f"{call.spec.index} is {dtype_name(index.dtype)}, must be {_words(call.spec.index_dtypes)}"


def subscript_dtypes(call: Call) -> Iterator[str]:
    """Check that every tensor between the brackets is one of integers or a mask."""
    layout = Layout.of(call.index, call.shape, brackets=call.spec.brackets)
    if layout is None:
        return
    for number, item, _ in layout.tensors:
        taken = INTEGERS if call.spec.brackets and item.dim() == 0 else call.spec.index_dtypes
        if item.dtype not in taken | BOOL_OR_BYTE:
            wanted = _words(call.spec.index_dtypes | {torch.bool})
            yield f"{layout.label(number, call.spec.index)} is {dtype_name(item.dtype)}, must be {wanted}"


def same_dtype(call: Call) -> Iterator[str]:
    """Check that source and target have one dtype, unless autocast is about to see to it."""
    source, target = call.source, call.target
    if source is None or source.dtype == target.dtype:
        return
    floating = source.is_floating_point() and target.is_floating_point()
    if call.spec.promoted and floating and torch.is_autocast_enabled(target.device.type):
        return
    wanted = f"{dtype_name(target.dtype)} like {call.spec.target}"
    yield f"{call.spec.source} is {dtype_name(source.dtype)}, must be {wanted}"


def assigned_dtype(call: Call) -> Iterator[str]:
    """Check the dtype of assigned values where torch does not convert: beside index tensors with dimensions."""
    layout = Layout.of(call.index, call.shape, brackets=call.spec.brackets)
    if layout is None or call.source is None:
        return
    if call.spec.brackets and not any(item.dim() for _, item, _ in layout.tensors):
        return
    filled = layout.masked and call.source.numel() == 1 and not call.arguments.get("accumulate")
    if not filled:
        yield from same_dtype(call)


def value_is_real(call: Call) -> Iterator[str]:
    """Check that no complex number is filled into a tensor of real ones."""
    value = call.arguments.get(call.spec.source or "")
    is_complex = value.is_complex() if isinstance(value, torch.Tensor) else isinstance(value, complex)
    if is_complex and not call.target.is_complex():
        yield f"{call.spec.source} is complex, {call.spec.target} is {dtype_name(call.target.dtype)}"


def same_device(call: Call) -> Iterator[str]:
    """Check that all tensors are on one device; a source without dimensions may be on the CPU where torch allows."""
    for name, tensor in _others(call):
        if tensor.device == call.target.device or "meta" in (tensor.device.type, call.target.device.type):
            continue
        if call.spec.roams and tensor.device.type == "cpu" and (name != call.spec.source or tensor.dim() == 0):
            continue
        yield f"{name} is on {tensor.device}, must be on {call.target.device} like {call.spec.target}"


def _others(call: Call) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(call.index, torch.Tensor):
        yield call.spec.index, call.index
    else:
        yield from ((index.label, index.tensor) for index in call.indices)
    if call.source is not None:
        assert call.spec.source is not None
        yield call.spec.source, call.source


def _words(dtypes: frozenset[torch.dtype]) -> str:
    return " or ".join(sorted(map(dtype_name, dtypes)))
