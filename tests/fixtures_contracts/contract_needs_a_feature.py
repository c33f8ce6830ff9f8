"""
What needs a feature that no machine has.

Why: a test.
What to do: nothing.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(statement="It holds.", truth=Truth.HOLDS, requires=("unobtainium",))


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x


def claim(x: torch.Tensor) -> torch.Tensor:
    return x
