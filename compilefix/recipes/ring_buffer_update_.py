"""Write new entries into a ring buffer, such as a KV cache, in place."""

from __future__ import annotations

import torch

from compilefix.recipes.ring_buffer_update import check_update, ring_buffer_update


def ring_buffer_update_(
    buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor | int, dim: int = -2, *, slots_only: bool = False
) -> torch.Tensor:
    """
    Write the entries of `new` into `buffer` from `position` on along `dim`, wrapping around, and return `buffer`.

    Arguments and errors are those of `ring_buffer_update`. Plain code touches the new slots only. Compiled code writes
    the whole buffer, in one pass: a write to some slots would reach a ``buffer.clone()`` taken right after it, when
    the buffer is written again in the same compiled function (https://github.com/pytorch/pytorch/issues/198094).
    Where no such snapshot is taken, `slots_only` spares the pass, and a large KV cache wants that.

    As with every in-place operation of torch, `buffer` must not be a leaf that requires gradients, nor share memory
    with `new`.
    """
    if torch.compiler.is_compiling() and not slots_only:
        return buffer.copy_(ring_buffer_update(buffer, new, position, dim))
    dim, new, position = check_update(buffer, new, position, dim)
    slot = torch.remainder(torch.arange(new.shape[dim], device=buffer.device) + position, buffer.shape[dim])
    return buffer.index_copy_(dim, slot, new)
