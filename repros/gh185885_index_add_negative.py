"""
index_add accepts a negative index when compiled.

Why: it is decomposed into index_put, for which -1 means the last row; the range check of the plain operator is lost.
What to do: check the indices before the compiled region, or inside it with torch._assert_async.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/index_add",
    devices=("cpu", "cuda"),
    ops=("index_add",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/185885",),
    related=("gh197554", "gh121135"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(3, 2, device=device), torch.tensor([0, -3], device=device), torch.ones(2, 2, device=device)


def program(table: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return torch.index_add(table, 0, index, rows)


def workaround(table: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    torch._assert_async((index >= 0).all(), "index out of bounds")
    return torch.index_add(table, 0, index, rows)
