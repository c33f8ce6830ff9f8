"""
On one CPU thread the last of several equal indices wins, and nothing promises it.

Why: one thread writes in order, compiled or not. The documentation calls the result arbitrary; with 1,000,000 values
on two threads x[index] = src kept values of the first half.
What to do: make indices unique, or reduce: scatter_reduce(..., 'amax'), index_add.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="On one CPU thread the last of several equal indices wins.",
    truth=Truth.HOLDS,
    ops=("scatter", "Tensor.__setitem__"),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(4, device=device), torch.arange(300, device=device) % 3, torch.arange(300.0, device=device)


def program(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scattered = torch.scatter(x, 0, index, src)
    x[index] = src
    return scattered, x + 1.0


def claim(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    last = torch.tensor([297.0, 298.0, 299.0, 0.0], device=x.device)
    x.copy_(last)
    return last, last + 1.0
