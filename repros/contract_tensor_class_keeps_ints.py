"""
torch.Tensor([1, 2]) is a float32 tensor.

Why: torch.Tensor is the class of the default dtype and converts; torch.tensor looks at the values.
What to do: torch.tensor([1, 2]).
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.Tensor([1, 2]) keeps its integers.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("Tensor",),
    references=("https://docs.pytorch.org/docs/stable/tensors.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([10, 20], device="cpu"),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x + torch.Tensor([1, 2])


def claim(x: torch.Tensor) -> torch.Tensor:
    return x + torch.tensor([1, 2])
