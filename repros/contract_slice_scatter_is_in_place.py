"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="slice_scatter writes into its input.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("slice_scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.slice_scatter.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(5, device=device), torch.tensor([7.0, 8.0], device=device)


def program(x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    return torch.slice_scatter(x, part, dim=0, start=1, end=3)


def claim(x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    x[1:3] = part
    return x
