"""
torch.from_numpy shares memory with the array, compiled or not.

Why: no copy is made, so an in-place write is seen on both sides.
What to do: torch.tensor(array) where a copy is wanted.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.from_numpy shares memory with the array.",
    truth=Truth.HOLDS,
    requires=("numpy",),
    ops=("from_numpy",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html",),
    related=("contract-as-tensor-copies",),
)


def inputs(device: str) -> tuple[object, ...]:
    return (torch.tensor([1.0, 2.0]).numpy(),)


def program(array: object) -> torch.Tensor:
    seen = torch.from_numpy(array)
    seen.mul_(10.0)
    return seen


def claim(array: object) -> torch.Tensor:
    array *= 10.0
    return torch.from_numpy(array)
