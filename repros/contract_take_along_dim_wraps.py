"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="take_along_dim counts a negative index from the end, as NumPy does.",
    truth=Truth.HOLDS,
    ops=("take_along_dim",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.take_along_dim.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([[-1], [-3]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.take_along_dim(x, index, 1)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[2.0], [3.0]], device=x.device)
