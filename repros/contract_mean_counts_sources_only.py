"""
scatter_reduce's mean counts the value that was there, too

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="scatter_reduce's mean divides by the number of sources.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter_reduce",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.tensor([8.0, 5.0], device=device),
        torch.tensor([0, 0], device=device),
        torch.tensor([1.0, 3.0], device=device),
    )


def program(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter_reduce(x, 0, index, src, reduce="mean")


def claim(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.tensor([2.0, 5.0], device=x.device)
