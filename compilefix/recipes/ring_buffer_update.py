"""Write new entries into a ring buffer, such as a KV cache, as a new tensor."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def ring_buffer_update(
    buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor | int, dim: int = -2
) -> torch.Tensor:
    """
    Return a copy of `buffer` whose slots from `position` on along `dim` hold the entries of `new`, wrapping around.

    `buffer` is ``[..., S, ...]`` with S slots along `dim` (a KV cache ``[B, H, S, D]`` has them at -2), `new` is
    ``[..., n, ...]`` of the same dtype and device. Entry i goes to slot ``(position + i) % S``; of more than S entries
    the last S stay. `position` counts on without end and may be negative: keep it as a zero-dimensional integer
    tensor, and compiled code takes every position without compiling anew; an int is a constant of the graph at first.

    The copy is chosen slot by slot rather than scattered, so it keeps its values when the caller writes into `buffer`
    later in the same compiled function, which a scatter does not
    (https://github.com/pytorch/pytorch/issues/198094). It costs a pass over the buffer; `ring_buffer_update_` writes in
    place. Gradients flow to `buffer`, where it is kept, and to `new`.

    Raises `TypeError` where an argument is no tensor, `position` no integer, or the dtypes differ; `ValueError` for
    shapes, devices or a `dim` that do not fit, or a buffer without slots.
    """
    dim, new, position = check_update(buffer, new, position, dim)
    size, entries = buffer.shape[dim], new.shape[dim]
    offset = torch.remainder(torch.arange(size, device=buffer.device) - position, size)
    written = _arguments.along(offset < entries, buffer.ndim, dim)
    if entries == 0:
        return torch.where(written, buffer.new_zeros(()), buffer)
    return torch.where(written, new.index_select(dim, offset.clamp(max=entries - 1)), buffer)


def check_update(
    buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor | int, dim: int
) -> tuple[int, torch.Tensor, torch.Tensor | int]:
    """Return `dim` from the front, the entries of `new` that stay, and the position of the first of them."""
    _arguments.tensor("buffer", buffer)
    _arguments.tensor("new", new)
    _arguments.same_device(buffer=buffer, new=new)
    dim = _arguments.dimension(dim, buffer, "buffer")
    if new.dtype != buffer.dtype:
        raise TypeError(f"new has dtype {new.dtype} and buffer {buffer.dtype}")
    rest = buffer.shape[:dim] + buffer.shape[dim + 1 :]
    if new.ndim != buffer.ndim or new.shape[:dim] + new.shape[dim + 1 :] != rest:
        raise ValueError(
            f"new has shape {tuple(new.shape)} and buffer {tuple(buffer.shape)}: they may differ at dim={dim} only"
        )
    if isinstance(position, torch.Tensor):
        position = _arguments.integers("position", position)
        if position.ndim != 0:
            raise ValueError(f"position has shape {tuple(position.shape)}: expected one number, of shape ()")
    elif isinstance(position, bool) or not isinstance(position, int):
        raise TypeError(f"position must be an int or an integer tensor, not {type(position).__name__}")
    size, entries = buffer.shape[dim], new.shape[dim]
    if size == 0:
        raise ValueError(f"buffer has 0 slots along dim={dim}: its shape is {tuple(buffer.shape)}")
    if entries > size:
        return dim, new.narrow(dim, entries - size, size), position + (entries - size)
    return dim, new, position
