"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="An in-place write through an expanded tensor raises.",
    truth=Truth.HOLDS,
    ops=(
        "Tensor.expand",
        "Tensor.add_",
    ),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(1, device=device), torch.tensor([1.0, 2.0, 3.0], device=device)


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    wide = x.expand(3)
    wide.add_(y)
    return wide.clone()


def claim(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("more than one element of the written-to tensor refers to a single memory location")
