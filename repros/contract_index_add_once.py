"""
index_add adds once for every time that an index is named.

Why: it accumulates. x[index] += source is the one that reads first and writes once.
What to do: nothing; on CUDA the order of summands is not fixed.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="index_add adds once where an index is repeated.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("index_add",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.zeros(3, device=device),
        torch.tensor([1, 1, 0], device=device),
        torch.tensor([1.0, 2.0, 4.0], device=device),
    )


def program(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.index_add(x, 0, index, source)


def claim(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.tensor([4.0, 2.0, 0.0], device=x.device)
