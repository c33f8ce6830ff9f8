"""Sum weighted entries by slot: messages along the edges of a graph."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def weighted_scatter_add(
    src: torch.Tensor, index: torch.Tensor, weight: torch.Tensor, dim: int = 0, dim_size: int | None = None
) -> torch.Tensor:
    """
    Return for each slot along `dim` the sum of the entries of `src` times their `weight`.

    `src` has any shape ``[..., E, ...]`` with E entries (edges) along `dim`; `index` is ``[E]``, or of the shape of
    `src`. `weight` is ``[E]``, or ``[E, H]`` and so on: its dimensions are those of `src` from `dim` on, as far as it
    has any, and the rest share a weight. The result is ``[..., dim_size, ...]`` on the device of `src`, in the dtype
    of ``src * weight``; slots without entries have 0. Gradients flow to `src` and to `weight`.

    Without `dim_size` it is the greatest index + 1 (0 without entries), which reads a value from the device: in
    compiled code that is a graph break, and an error under ``fullgraph=True``, so name it there.

    Raises `TypeError` where an argument is no tensor or `index` has no integer dtype; `ValueError` for a shape, a
    device, a `dim` or a `dim_size` that does not fit. Indices below 0 or from `dim_size` on are an error of torch's
    own in plain code; compiled code may not notice.
    """
    _arguments.tensor("src", src)
    _arguments.tensor("weight", weight)
    _arguments.same_device(src=src, weight=weight)
    dim = _arguments.dimension(dim, src, "src")
    covered = src.shape[dim : dim + weight.ndim]
    if weight.ndim == 0 or weight.shape != covered:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}: expected ({src.shape[dim]},), the entries of src along "
            f"dim={dim}, and then dimensions of src, whose shape is {tuple(src.shape)}"
        )
    index, shape = _arguments.slots(src, index, dim, dim_size)
    messages = src * _arguments.along(weight, src.ndim, dim)
    return messages.new_zeros(shape).scatter_add(dim, index, messages)
