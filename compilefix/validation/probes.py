"""What the installed torch takes where releases differ: asked once, on the CPU, with tensors of two elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes


def takes(call: Callable[[torch.Tensor, torch.Tensor], Any], index: torch.Tensor) -> bool:
    """Tell whether plain torch runs `call` on a tensor of two zeros and `index`, whatever modes are on."""
    try:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            call(torch.zeros(2, device="cpu"), index)
    except (RuntimeError, IndexError):
        return False
    return True


def _index(number: int, dtype: torch.dtype) -> torch.Tensor:
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        return torch.tensor([number], dtype=dtype, device="cpu")


SCATTER_TAKES_INT32 = takes(lambda x, i: x.scatter(0, i, 1.0), _index(0, torch.int32))
"""False on 2.6.0, True from 2.9.1 on, as far as measured; the same for gather."""

TAKE_ALONG_DIM_WRAPS = takes(lambda x, i: torch.take_along_dim(x, i, 0), _index(-1, torch.int64))
"""False on 2.6.0 and 2.9.1, True from 2.13.0 on, as far as measured; then indices count modulo the size."""
