"""
The mean of scatter_reduce counts the value that was there as well.

Why: include_self is True by default, so the old value is one more summand in the sum and in the count.
What to do: pass include_self=False. Places that no index names keep their value either way.
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
