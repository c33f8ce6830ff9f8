"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="int64 + float32 gives float64.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("add",),
    references=("https://docs.pytorch.org/docs/stable/tensor_attributes.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([2**24 + 1, 3], device=device), torch.tensor([1.0, 0.5], device=device)


def program(counts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return counts + weights


def claim(counts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return counts.double() + weights.double()
