"""
torch.scatter returns a new tensor.

Why: only the method with the underscore writes into its tensor.
What to do: use what torch.scatter returns, or write x.scatter_(...).
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.scatter writes into its input.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",),
    related=("contract-slice-scatter-is-in-place",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(4, device=device), torch.tensor([3, 1], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 0, index, 2.0)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    x[index] = 2.0
    return x
