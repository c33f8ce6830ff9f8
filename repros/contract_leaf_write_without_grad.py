"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="Under no_grad a leaf that requires grad may be written in place.",
    truth=Truth.HOLDS,
    ops=(
        "Tensor.mul_",
        "no_grad",
    ),
    references=("https://docs.pytorch.org/docs/stable/notes/autograd.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(3, device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        x.mul_(2.0)
    return x * 3.0


def claim(x: torch.Tensor) -> torch.Tensor:
    x.data.fill_(2.0)
    return x * 3.0
