"""
torch.tensor keeps the float64 of a NumPy array.

Why: an array brings its dtype along; only Python floats become the default dtype, float32.
What to do: torch.tensor(array, dtype=torch.float32).
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.tensor of a float64 array gives float32.",
    truth=Truth.DOES_NOT_HOLD,
    requires=("numpy",),
    ops=("tensor",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.tensor.html",),
)


def inputs(device: str) -> tuple[object, ...]:
    return (torch.tensor([0.5, 1.5], dtype=torch.float64).numpy(),)


def program(values: object) -> torch.Tensor:
    return torch.tensor(values)


def claim(values: object) -> torch.Tensor:
    return torch.tensor([0.5, 1.5], dtype=torch.float32)
