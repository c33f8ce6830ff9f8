"""The mean of all entries that go to the same slot."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def scatter_mean(src: torch.Tensor, index: torch.Tensor, dim: int = 0, dim_size: int | None = None) -> torch.Tensor:
    """
    Return for each slot along `dim` the mean of the entries of `src` that `index` sends there.

    `src` has any shape ``[..., E, ...]`` with E entries along `dim`; `index` is ``[E]``, or of the shape of `src`. The
    result is ``[..., dim_size, ...]`` in the dtype and on the device of `src`. Only entries are counted: a slot with
    one entry has that entry, and a slot without any has 0 (`torch.Tensor.scatter_reduce` counts the slot's old value
    as well, unless told ``include_self=False``). Gradients flow to `src`. Integer dtypes are summed and divided
    rounding down: the mean of -1 and 0 is -1. torch may sum halves in half precision: convert them to float32 first
    where a slot has many.

    Without `dim_size` it is the greatest index + 1 (0 without entries), which reads a value from the device: in
    compiled code that is a graph break, and an error under ``fullgraph=True``, so name it there.

    Raises `TypeError` where `src` is no tensor, is bool or complex, or `index` has no integer dtype; `ValueError` for
    a shape, a device, a `dim` or a `dim_size` that does not fit. Indices below 0 or from `dim_size` on are an error
    of torch's own, which on a GPU comes as a failed assertion.
    """
    _arguments.tensor("src", src)
    if src.dtype is torch.bool or src.is_complex():
        raise TypeError(f"src has dtype {src.dtype}, which has no mean")
    dim = _arguments.dimension(dim, src, "src")
    index, shape = _arguments.slots(src, index, dim, dim_size)
    return src.new_zeros(shape).scatter_reduce(dim, index, src, "mean", include_self=False)
