"""
masked_fill keeps its tensor's dtype and truncates the value.

Why: the value is converted to the tensor's dtype, as in an assignment: 1.5 becomes 1, without a warning.
What to do: torch.where(mask, 1.5, x), which promotes.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="masked_fill of a float into an integer tensor gives a float tensor.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("Tensor.masked_fill",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([4, 5, 6], device=device), torch.tensor([True, False, True], device=device)


def program(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(mask, 1.5)


def claim(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.tensor([1.5, 5.0, 1.5], device=x.device)
