"""
In brackets, and in index_fill and take, a negative index counts from the end

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="A negative index in brackets counts from the end.",
    truth=Truth.HOLDS,
    ops=(
        "Tensor.__getitem__",
        "Tensor.__setitem__",
        "take",
    ),
    references=("https://docs.pytorch.org/docs/stable/tensor_view.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(8.0, device=device).reshape(4, 2), torch.tensor([-1, 0, -3], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    picked = x[index]
    x[index] = -1.0
    return picked, torch.take(x, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    picked = torch.tensor([[6.0, 7.0], [0.0, 1.0], [2.0, 3.0]], device=x.device)
    x.copy_(torch.tensor([[-1.0, -1.0], [-1.0, -1.0], [4.0, 5.0], [-1.0, -1.0]], device=x.device))
    return picked, torch.tensor([-1.0, -1.0, 5.0], device=x.device)
