"""
scatter raises for an index that is out of range.

Why: the CPU kernel checks every index and raises RuntimeError; so does Inductor's C++ kernel, with its own words.
What to do: give surplus entries a row of their own: scatter into a tensor that is one longer and drop the last entry.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="A scatter index that is out of range is ignored.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(2, 3, device=device), torch.tensor([[1, 3], [0, 2]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 1, index, 5.0)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[0.0, 5.0, 0.0], [5.0, 0.0, 5.0]], device=x.device)
