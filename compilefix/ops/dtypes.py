"""Which dtype may be written into which."""

from __future__ import annotations

import torch


def castable(source: torch.dtype, target: torch.dtype) -> bool:
    """Tell whether a result of dtype `source` may be put into `target`: `torch.can_cast`, which Dynamo cannot trace."""
    return _category(source) <= _category(target)


def _category(dtype: torch.dtype) -> int:
    if dtype.is_complex:
        return 3
    if dtype.is_floating_point:
        return 2
    return 0 if dtype == torch.bool else 1
