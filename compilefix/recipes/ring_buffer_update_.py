"""Write new entries into a ring buffer, such as a KV cache, in place."""

from __future__ import annotations

import torch

from compilefix.recipes.ring_buffer_update import check_update


def ring_buffer_update_(
    buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor | int, dim: int = -2
) -> torch.Tensor:
    """
    Write the entries of `new` into `buffer` from `position` on along `dim`, wrapping around, and return `buffer`.

    Arguments and errors are those of `ring_buffer_update`. Only the new slots are touched, so this is the one for a
    KV cache of some size. As with every in-place operation of torch, `buffer` must not be a leaf that requires
    gradients, nor share memory with `new`.
    """
    dim, new, position = check_update(buffer, new, position, dim)
    slot = torch.remainder(torch.arange(new.shape[dim], device=buffer.device) + position, buffer.shape[dim])
    return buffer.index_copy_(dim, slot, new)
