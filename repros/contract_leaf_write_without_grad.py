"""
Under no_grad a leaf that requires grad may be written, compiled or not.

Why: nothing is recorded there, which is how optimisers step. What is computed afterwards sees the new values.
What to do: nothing; outside of no_grad the same write raises.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="Under no_grad a leaf that requires grad may be written in place.",
    truth=Truth.HOLDS,
    ops=("Tensor.mul_", "no_grad"),
    references=("https://github.com/pytorch/pytorch/issues/93682",),
    related=("contract-leaf-write-refused",),
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
