"""
A program that raises, as it is said to.

Why: a test.
What to do: nothing.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(statement="The program raises.", truth=Truth.HOLDS)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    raise ValueError(f"no {x.dim()}-dimensional tensors")


def claim(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("other words")
