"""
torch.meshgrid is ij-indexed by default.

Why: numpy.meshgrid starts with the columns, torch.meshgrid with the rows; it warns that this will change.
What to do: always say indexing='ij' or indexing='xy'.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.meshgrid is xy-indexed by default, as numpy.meshgrid is.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("meshgrid",),
    references=("https://github.com/pytorch/pytorch/issues/50276",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(2, device=device), torch.arange(3, device=device)


def program(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(grid + 1 for grid in torch.meshgrid(a, b))


def claim(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return a.expand(3, 2) + 1, b[:, None].expand(3, 2) + 1
