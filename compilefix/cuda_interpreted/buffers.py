"""What a wrapper that was moved back to the CPU allocates and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from compilefix.cuda_interpreted import poison


def poisoned(size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """
    Return a new tensor of `size` and `stride` whose every element is poison, so that reading it unwritten shows.

    Poison is a NaN with a payload of its own in floating and complex types, and the byte 0xA5 in all others.
    """
    out = torch.empty_strided(size, stride, dtype=dtype)
    poison.fill(out, poison.name_of_caller(2))
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
