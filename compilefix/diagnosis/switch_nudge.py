"""Inputs and parameters that differ from the given ones in their last digit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from compilefix.diagnosis import adaptor
from compilefix.oracle.noise import shaken
from compilefix.registry import Record


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """Multiply every floating element of what the program gets by 1, or by 1 and one ulp, drawn by ``told["seed"]``."""
    generator = torch.Generator().manual_seed(int(told["seed"]))

    def nudged(value: Any) -> Any:
        if isinstance(value, torch.nn.Module):
            with torch.no_grad():
                for parameter in value.parameters():
                    parameter.copy_(shaken(parameter.detach(), generator))
            return value
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.layout is not torch.strided:
            return value
        with torch.no_grad():
            return value.detach().copy_(shaken(value.detach(), generator)).requires_grad_(value.requires_grad)

    adaptor.NUDGE.append(nudged)
    try:
        yield
    finally:
        adaptor.NUDGE.pop()
