"""
index_copy, index_fill and take still want int64, although gather, scatter and index_add take int32

Why: each operator checks the dtype of its index on its own.
What to do: pass index.long().
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="index_copy takes an int32 index, as index_add does.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("index_copy",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    index = torch.tensor([2, 0], dtype=torch.int32, device=device)
    return torch.zeros(3, 2, device=device), index, torch.arange(4.0, device=device).reshape(2, 2)


def program(x: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return torch.index_copy(x, 0, index, rows)


def claim(x: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return torch.index_copy(x, 0, index.long(), rows)
