"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.scatter writes into its input.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.scatter.html",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(4, device=device), torch.tensor([3, 1], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 0, index, 2.0)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    x[index] = 2.0
    return x
