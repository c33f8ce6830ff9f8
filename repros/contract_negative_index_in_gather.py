"""
A negative index is out of range for gather

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="gather counts a negative index from the end.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("gather",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.gather.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([[-1], [0]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, 1, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[2.0], [3.0]], device=x.device)
