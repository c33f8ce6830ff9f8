"""
int64 and float32 give float32.

Why: a dtype of a higher category wins whatever its width; only within one category the wider wins. 16777217 becomes
16777216.0 on the way.
What to do: convert yourself where counts exceed 2**24: counts.double() + weights.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="int64 + float32 gives float64.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("add",),
    references=("https://docs.pytorch.org/docs/stable/_sources/tensor_attributes.rst.txt",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([2**24 + 1, 3], device=device), torch.tensor([1.0, 0.5], device=device)


def program(counts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return counts + weights


def claim(counts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return counts.double() + weights.double()
