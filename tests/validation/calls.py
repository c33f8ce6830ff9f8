"""Tensors and shorthands that the tests of validated mode share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compilefix.validation import IndexFault, validate


def t(*values: Any) -> torch.Tensor:
    """Return a tensor of integers."""
    return torch.tensor(values)


def x(*shape: int) -> torch.Tensor:
    """Return 0, 1, 2 … in float32, by default in the shape (4, 5)."""
    shape = shape or (4, 5)
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


def faults(call: Callable[[], Any], duplicates: str = "ignore") -> tuple[str, ...]:
    """Return the faults that validated mode finds in a call, none if it runs."""
    try:
        with validate(duplicates):
            call()
    except IndexFault as fault:
        return fault.faults
    return ()


def raises(call: Callable[[], Any]) -> bool:
    """Tell whether plain torch refuses a call."""
    try:
        call()
    except (RuntimeError, IndexError, ValueError, TypeError):
        return True
    return False
