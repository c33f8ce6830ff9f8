"""
Checks inside a compiled graph.

What needs no values is checked when the graph is traced. The values are read when it runs, by the operator
``compilefix::checked_indices``: it returns the indices that it was given, and the indexing operator takes these, so no
compiler pass can run it after the kernel whose index it checks.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from compilefix.validation.call import Call, Index, Values, bind
from compilefix.validation.faults import DuplicateIndexWarning, IndexFault
from compilefix.validation.table import SPECS
from compilefix.validation.values import no_conflict

_SCHEMA = (
    "(Tensor[] indices, Tensor? written, SymInt[] shape, SymInt[] sizes, int[] dims, bool[] selects, SymInt available,"
    " bool idle, str key, str op, str labels, str duplicates, int samples) -> Tensor[]"
)


_TAGS: dict[str, Any] = {}
if hasattr(torch.Tag, "cudagraph_unsafe") and "tags" in inspect.signature(torch.library.custom_op).parameters:
    _TAGS["tags"] = (torch.Tag.cudagraph_unsafe,)  # it waits for the device, which a capture forbids


@torch.library.custom_op("compilefix::checked_indices", mutates_args=(), schema=_SCHEMA, **_TAGS)
def checked_indices(
    indices: Sequence[torch.Tensor],
    written: torch.Tensor | None,
    shape: Sequence[int],
    sizes: Sequence[int],
    dims: Sequence[int],
    selects: Sequence[bool],
    available: int,
    idle: bool,
    key: str,
    op: str,
    labels: str,
    duplicates: str,
    samples: int,
) -> list[torch.Tensor]:
    """
    Return copies of `indices` if the value rules of the operator `key` hold for them, else raise `IndexFault`.

    `dims` has -1 for the flattened target. The first `samples` dimensions of every tensor are those of vmap.
    """
    rows = zip(labels.split("|"), indices, dims, sizes, selects, strict=True)
    found = tuple(Index(label, t, None if dim < 0 else dim, size, sel) for label, t, dim, size, sel in rows)
    values = Values(SPECS[key], tuple(shape), found, written, available, idle)
    for prefix, one in _samples(values, samples):
        faults, conflicts = judge(one, duplicates)
        if faults:
            raise IndexFault(*(f"{op}: {prefix}{line}" for line in faults))
        for line in conflicts:
            warnings.warn(f"{op}: {prefix}{line}", DuplicateIndexWarning, stacklevel=1)
    return [index.clone() for index in indices]


@checked_indices.register_fake
def _(indices: Sequence[torch.Tensor], *_: Any) -> list[torch.Tensor]:
    return [torch.empty_like(index) for index in indices]


def _vmap(info: Any, in_dims: Sequence[Any], *args: Any) -> tuple[list[torch.Tensor], list[int]]:
    """Move the mapped dimension to the front of every tensor, and count it among the samples."""

    def front(tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
        return tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)

    indices = [front(tensor, dim) for tensor, dim in zip(args[0], in_dims[0], strict=True)]
    written = None if args[1] is None else front(args[1], in_dims[1])
    checked = torch.ops.compilefix.checked_indices(indices, written, *args[2:-1], args[-1] + 1)
    return checked, [0] * len(checked)


if hasattr(checked_indices, "register_vmap"):  # torch 2.5
    checked_indices.register_vmap(_vmap)

torch.fx.node.has_side_effect(torch.ops.compilefix.checked_indices.default)


def judge(values: Values, duplicates: str) -> tuple[list[str], list[str]]:
    """Return the faults, and the duplicates that are only to be warned of; `duplicates` is the policy."""
    faults = [line for rule in values.spec.value_rules for line in rule(values)]
    if faults or duplicates == "ignore":
        return faults, []
    conflicts = list(no_conflict(values))
    return (conflicts, []) if duplicates == "error" else ([], conflicts)


def _samples(values: Values, count: int) -> Iterator[tuple[str, Values]]:
    """Yield the values of every sample of vmap, with how the sample is named in messages."""
    if count == 0:
        yield "", values
        return
    for place in itertools.product(*map(range, values.indices[0].tensor.shape[:count])):
        own = tuple(replace(index, tensor=index.tensor[place]) for index in values.indices)
        written = None if values.written is None else values.written[place]
        yield f"sample {', '.join(map(str, place))}: ", replace(values, indices=own, written=written)


def values_of(call: Call, duplicates: str) -> Values:
    """Return what the value rules need of a call that keeps the other rules."""
    wanted = call.spec.written is not None and duplicates != "ignore" and len(call.indices) > 0
    written = call.spec.written(call) if call.spec.written and wanted else None
    idle = call.spec.idle is not None and call.spec.idle(call)
    available = call.source.numel() if call.source is not None else 0
    return Values(call.spec, call.shape, call.indices, written, available, idle)


def checked(key: str, call: Call, duplicates: str) -> list[torch.Tensor]:
    """Return the index tensors of `call`, checked whenever the surrounding graph or transform runs."""
    values = values_of(call, duplicates)
    result: list[torch.Tensor] = torch.ops.compilefix.checked_indices(
        [index.tensor for index in values.indices],
        values.written,
        values.shape,
        [index.size for index in values.indices],
        [-1 if index.dim is None else index.dim for index in values.indices],
        [index.selects for index in values.indices],
        values.available,
        values.idle,
        key,
        call.op,
        "|".join(index.label for index in values.indices),
        duplicates,
        0,
    )
    return result


@torch._dynamo.allow_in_graph  # type: ignore[untyped-decorator]
def trace(
    key: str, op: str, in_place: bool, duplicates: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[torch.Tensor]:
    """
    Check a call that is being traced, and return what to put in place of the tensors in its index argument, in order.

    Raises `IndexFault` for what shapes, dtypes and devices show; Dynamo makes a TorchRuntimeError with its text of it.
    """
    spec = SPECS[key]
    call = bind(spec, op, in_place, args, kwargs)
    own = _tensors(args, kwargs, spec.parameters.index(spec.index), spec.index) if spec.value_rules else []
    if call is not None:
        faults = [line for rule in spec.rules for line in rule(call)]
        if faults:
            raise IndexFault(*(f"{op}: {line}" for line in faults))
        call = replace(call, indices=tuple(index for index in call.indices if not index.selects))
        if call.indices and spec.value_rules:
            fresh = dict(zip((id(index.tensor) for index in call.indices), checked(key, call, duplicates), strict=True))
            own = [fresh.get(id(tensor), tensor) for tensor in own]
    return own or [torch.empty(0)]


def _tensors(args: Sequence[Any], kwargs: Mapping[str, Any], place: int, name: str) -> list[torch.Tensor]:
    """Return the tensors in the index argument."""
    index = args[place] if len(args) > place else kwargs.get(name)
    return [item for item in (index if isinstance(index, list | tuple) else [index]) if isinstance(item, torch.Tensor)]
