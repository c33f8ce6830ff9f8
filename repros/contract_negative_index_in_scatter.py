"""
scatter raises for a negative index.

Why: index values must lie between 0 and size - 1. Plain code and Inductor's C++ kernel raise RuntimeError.
What to do: write index % x.shape[dim].
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="scatter counts a negative index from the end.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",),
    related=("contract-negative-index-in-gather",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([[-1], [0]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 1, index, 9.0)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[0.0, 1.0, 9.0], [9.0, 4.0, 5.0]], device=x.device)
