"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="fill_ through an expanded tensor raises, as add_ does.",
    truth=Truth.DOES_NOT_HOLD,
    ops=(
        "Tensor.expand",
        "Tensor.fill_",
    ),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(1, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    wide = x.expand(3)
    wide.fill_(4.0)
    return wide.clone()


def claim(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("more than one element of the written-to tensor refers to a single memory location")
