"""What a wrapper that was moved back to the CPU allocates and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def poisoned(size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """
    Return a new tensor of `size` and `stride` whose every element is poison, so that reading it unwritten shows.

    Poison is NaN in floating and complex types and the byte 0xA5 in all others.
    """
    out = torch.empty_strided(size, stride, dtype=dtype)
    whole = torch.as_strided(out, (out.untyped_storage().nbytes() // out.element_size(),), (1,))
    if dtype.is_floating_point and out.element_size() > 1:
        whole.fill_(float("nan"))
    elif dtype.is_complex:
        whole.fill_(complex(float("nan"), float("nan")))
    elif dtype is torch.bool:
        whole.fill_(True)
    else:
        whole.view(torch.uint8).fill_(0xA5)
    return out


def laid_out(tensor: Any, size: Sequence[int], stride: Sequence[int], *_: object) -> Any:
    """
    Return `tensor` with the strides that the GPU's kernel would have given it.

    Raises `AssertionError` for another size, as the assertion does in whose place this stands.
    """
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tuple(tensor.shape) != tuple(size):
        raise AssertionError(f"wrong number of elements or sizes: {tuple(tensor.shape)}, expected {tuple(size)}")
    strides = [have for n, have in zip(size, tensor.stride(), strict=True) if n > 1]
    wanted = [want for n, want in zip(size, stride, strict=True) if n > 1]
    if strides == wanted or tensor.numel() == 0:
        return tensor
    out = torch.empty_strided(tuple(size), tuple(stride), dtype=tensor.dtype)
    return out.copy_(tensor)
