"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="Tensors on two devices never mix.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("mul",),
    references=("https://docs.pytorch.org/docs/stable/notes/cuda.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(3, device="meta"), torch.tensor(2.0, device=device)


def program(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return x * factor


def claim(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("Expected all tensors to be on the same device")
