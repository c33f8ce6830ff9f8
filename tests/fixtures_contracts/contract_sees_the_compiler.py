"""
A program that looks whether it is compiled.

Why: a test.
What to do: nothing.
"""

import torch

from compilefix.issue import Affected, Contract, Truth

CONTRACT = Contract(
    statement="The sum is that of all elements.",
    truth=Truth.HOLDS,
    differs=(Affected(first_seen="2.0"),),
    stage="eager",
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.sum() + (1.0 if torch.compiler.is_compiling() else 0.0)


def claim(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(3.0, device=x.device)
