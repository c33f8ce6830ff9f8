"""
index_copy wants an int64 index; compiled code takes int32 without a word.

Why: every operator checks its index on its own: index_add takes int32, index_copy, index_fill and take refuse it. The
decomposition of index_copy indexes with brackets, which take int32.
What to do: pass index.long(). Code that only ever ran compiled raises RuntimeError when it runs plainly.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="index_copy takes an int32 index, as index_add does.",
    truth=Truth.DOES_NOT_HOLD,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/index_copy",
    ops=("index_copy",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html",
        "https://github.com/pytorch/pytorch/pull/142158",
    ),
    related=("contract-index-is-int64",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    index = torch.tensor([2, 0], dtype=torch.int32, device=device)
    return torch.zeros(3, 2, device=device), index, torch.arange(4.0, device=device).reshape(2, 2)


def program(x: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return torch.index_copy(x, 0, index, rows)


def claim(x: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return torch.index_copy(x, 0, index.long(), rows)
