"""One-hot vectors with any two values, in any dtype, with an index that is ignored."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def one_hot_scatter(
    index: torch.Tensor,
    num_classes: int,
    dtype: torch.dtype = torch.float32,
    on_value: _arguments.Number = 1,
    off_value: _arguments.Number = 0,
    ignore_index: int | None = None,
) -> torch.Tensor:
    """
    Return `index` ``[...]`` as ``[..., num_classes]``: `on_value` at the index, `off_value` elsewhere.

    The classes are the last dimension; ``.movedim(-1, 1)`` puts them where the losses of torch expect them. Entries
    equal to `ignore_index` (torch's losses have -100) become rows of `off_value`. `index` has an integer dtype, the
    result is in `dtype` on the device of `index`; for label smoothing name both values. `torch.nn.functional.one_hot`
    gives int64 ones and zeros only, and knows no index to ignore.

    Raises `TypeError` where `index` has no integer dtype or `dtype` cannot hold a value, `ValueError` for a
    `num_classes` below 1. Any other index outside 0 to ``num_classes - 1`` is an error of torch's own in plain code;
    compiled code may not notice.
    """
    index = _arguments.integers("index", index)
    _arguments.count("num_classes", num_classes, least=1)
    _arguments.fits("on_value", on_value, dtype)
    _arguments.fits("off_value", off_value, dtype)
    empty = torch.full((*index.shape, num_classes), off_value, dtype=dtype, device=index.device)
    if ignore_index is None:
        return empty.scatter(-1, index.unsqueeze(-1), on_value)
    ignored = (index == ignore_index).unsqueeze(-1)
    value = torch.where(ignored, empty.new_full((), off_value), empty.new_full((), on_value))
    return empty.scatter(-1, index.unsqueeze(-1).masked_fill(ignored, 0), value)
