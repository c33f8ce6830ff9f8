"""
The record says that it holds, and it does not.

Why: a test.
What to do: nothing.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(statement="x + x is x.", truth=Truth.HOLDS)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x + x


def claim(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
