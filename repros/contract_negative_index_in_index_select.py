"""
A negative index is out of range for index_select

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="index_select counts a negative index from the end.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("index_select",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.index_select.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([-1], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.index_select(x, 1, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[2.0], [5.0]], device=x.device)
