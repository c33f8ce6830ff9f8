"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="gather has a backward pass for every index shape that its forward pass takes.",
    truth=Truth.HOLDS,
    ops=("gather",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.gather.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
    return x, torch.tensor([[1, 1, 0, 1]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, 1, index)


def drive(f, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    f(x, index).sum().backward()
    return x.grad


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    columns = torch.tensor([[1, 1, 0, 1]], device=x.device)
    return torch.stack([x[0, 1], x[0, 1], x[0, 0], x[0, 1]])[None] + 0 * columns
