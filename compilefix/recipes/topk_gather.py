"""The values at the best scores."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def topk_gather(
    scores: torch.Tensor, values: torch.Tensor, k: int, dim: int = -1, largest: bool = True
) -> torch.Tensor:
    """
    Return the `values` at the `k` greatest `scores` along `dim`, best first; the `k` smallest without `largest`.

    `scores` is ``[..., n, ...]`` and `values` has its shape, or more dimensions behind it, such as scores ``[B, n]``
    and boxes ``[B, n, 4]``; `dim` counts in `scores`. The result is as `values` with k entries along `dim`, in their
    dtype and on their device. Gradients flow to `values`; a choice has none for `scores`. Which of equal scores comes
    first is not specified, as with `torch.topk`.

    Raises `TypeError` where an argument is no tensor or `k` no int; `ValueError` for a `k` outside 0 to n, a `dim`
    that does not exist, or shapes or devices that do not fit.
    """
    _arguments.tensor("scores", scores)
    _arguments.tensor("values", values)
    _arguments.same_device(scores=scores, values=values)
    dim = _arguments.dimension(dim, scores, "scores")
    if values.shape[: scores.ndim] != scores.shape:
        raise ValueError(
            f"values has shape {tuple(values.shape)}, which does not begin with that of scores, {tuple(scores.shape)}"
        )
    _arguments.count("k", k)
    if k > scores.shape[dim]:
        raise ValueError(f"k={k} is more than the {scores.shape[dim]} scores along dim={dim}")
    best = scores.detach().topk(k, dim, largest=largest).indices
    trailing = values.shape[scores.ndim :]
    index = best.reshape(best.shape + (1,) * len(trailing)).expand(best.shape + trailing)
    return values.gather(dim, index)
