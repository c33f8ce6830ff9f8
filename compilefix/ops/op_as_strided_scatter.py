"""``torch.as_strided_scatter``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from compilefix.ops.clones import fused_clone, opaque_clone
from compilefix.ops.drop_in import DropIn, Op, Sample, functional_strategies
from compilefix.ops.positions import extent, strided

Tensor = torch.Tensor


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """
    Return `input` with ``input.as_strided(size, stride, storage_offset)`` replaced by `src`; `input` is left alone.

    Args:
        input: any shape and dtype; contiguous where it requires grad.
        src: of shape `size`; cast to the dtype of `input`.
        size: shape of the region.
        stride: its strides in elements of `input`, none negative; elements that share memory have no defined order.
        storage_offset: where it begins in the storage of `input`, in elements; None is where `input` begins.

    Raises:
        RuntimeError: `src` has not the shape `size`, or the region reaches beyond the memory that `input` spans.

    Upstream: the result is written into `input` when that is overwritten later in the same graph,
    https://github.com/pytorch/pytorch/issues/198094; a ``.clone()`` does not help before 2.15.0. Its gradient by
    `input` is inverted, compiled or not: one where `src` was written, zero elsewhere (seen from 2.6.0 to 2.15.0,
    https://github.com/pytorch/pytorch/issues/88105). The clones keep that; ``assign``, ``index-put`` and ``where`` have
    the true gradient. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _base(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> tuple[Tensor, int, int] | None:
    """
    Return what is written into, where the region begins, and how much memory both need; None where upstream refuses.

    An expanded `input` is made dense first, as upstream does.
    """
    base = input
    if any(step == 0 and count > 1 for count, step in zip(input.shape, input.stride(), strict=True)):
        base = input.clone()
    if len(size) != len(stride) or src.shape != tuple(size) or (input.requires_grad and not input.is_contiguous()):
        return None
    begin: Any = base.storage_offset()
    offset = begin if storage_offset is None else storage_offset
    memory = extent(base.shape, base.stride(), begin)
    if offset < 0 or any(step < 0 for step in stride) or extent(size, stride, offset) > memory:
        return None
    return base, offset, memory


def _laid_out_like(flat: Tensor, base: Tensor) -> Tensor:
    return flat.as_strided(base.shape, base.stride(), base.storage_offset())


def _on_copy(copy: Callable[[Tensor], Tensor], *, source: bool = False) -> Op:
    """Return upstream applied to a copy that keeps the layout; with `source`, ``src`` is copied as well."""

    def protected(
        input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        found = _base(input, src, size, stride, storage_offset)
        if found is None:
            return torch.as_strided_scatter(input, src, size, stride, storage_offset)
        base, offset, memory = found
        target = _laid_out_like(copy(base.as_strided((memory,), (1,), 0)), base)
        return torch.as_strided_scatter(target, copy(src) if source else src, size, stride, offset)

    return protected


def where(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Choose between `input` and `src` by a table over the memory that says which element of `src` lands where."""
    found = _base(input, src, size, stride, storage_offset)
    if found is None:
        return torch.as_strided_scatter(input, src, size, stride, storage_offset)
    base, offset, memory = found
    if src.numel() == 0 or base.numel() == 0:
        return fused_clone(base)
    numbers = torch.arange(src.numel(), device=input.device)
    table = torch.full((memory,), -1, dtype=torch.int64, device=input.device)
    table = table.scatter(0, strided(size, stride, offset, input.device).reshape(-1), numbers)
    begin: Any = base.storage_offset()
    landed = table[strided(base.shape, base.stride(), begin, input.device)]
    return torch.where(landed >= 0, src.to(input.dtype).reshape(-1)[landed.clamp(min=0)], base)


def assign(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Copy into the region of a clone."""
    found = _base(input, src, size, stride, storage_offset)
    if found is None:
        return torch.as_strided_scatter(input, src, size, stride, storage_offset)
    base, offset, memory = found
    flat = base.as_strided((memory,), (1,), 0).clone()
    flat.as_strided(size, stride, offset).copy_(src)
    return _laid_out_like(flat, base)


def index_put(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Write the positions in memory by index."""
    found = _base(input, src, size, stride, storage_offset)
    if found is None:
        return torch.as_strided_scatter(input, src, size, stride, storage_offset)
    base, offset, memory = found
    flat = base.as_strided((memory,), (1,), 0)
    positions = strided(size, stride, offset, input.device).reshape(-1)
    return _laid_out_like(torch.index_put(flat, (positions,), src.to(input.dtype).reshape(-1)), base)


def _whole(strategy: Op) -> Op:
    """Return `strategy` as one node of Dynamo's graph: Dynamo cannot trace ``storage_offset()``, AOTAutograd can."""
    return torch.compiler.allow_in_graph(strategy)  # type: ignore[no-untyped-call,no-any-return]


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (src, (2, 3), (6, 1), 6), {}


DROP_INS = (
    DropIn(
        name="as_strided_scatter",
        upstream=torch.as_strided_scatter,
        documented=as_strided_scatter,
        strategies=functional_strategies(
            torch.as_strided_scatter,
            order=("clone", "fused-clone", "assign", "index-put", "where"),
            clone=_whole(_on_copy(torch.clone)),
            fused_clone=_whole(_on_copy(fused_clone)),
            assign=_whole(assign),
            index_put=_whole(index_put),
            where=_whole(where),
            opaque_clone=_whole(_on_copy(opaque_clone, source=True)),
        ),
        records=("gh198094",),
        sample=Sample(source=lambda base: base[0:2, :3], arguments=_arguments),
        notes=dict.fromkeys(("assign", "index-put", "where"), "true gradient by input, where upstream's is inverted"),
    ),
)
