"""
torch.as_tensor shares memory with an array of the right dtype.

Why: it copies only where dtype or device must change; else it is torch.from_numpy.
What to do: torch.tensor(array) always copies.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.as_tensor copies an array.",
    truth=Truth.DOES_NOT_HOLD,
    requires=("numpy",),
    ops=("as_tensor",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html",),
)


def inputs(device: str) -> tuple[object, ...]:
    return (torch.tensor([1.0, 2.0]).numpy(),)


def program(array: object) -> torch.Tensor:
    seen = torch.as_tensor(array)
    seen.mul_(10.0)
    return seen


def claim(array: object) -> torch.Tensor:
    return torch.tensor([10.0, 20.0])
