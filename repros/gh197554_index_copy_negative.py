"""
index_copy accepts a negative index when compiled.

Why: it is decomposed into index_put, for which -1 means the last row; the range check of the plain operator is lost.
The upstream issue collects all such lost checks.
What to do: check the indices before the compiled call, as the workaround does.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/index_copy",
    devices=("cpu", "cuda"),
    ops=("index_copy",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197554",),
    related=("gh185885", "gh121135"),
)

Function = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(3, 2, device=device), torch.tensor([-1], device=device), torch.ones(1, 2, device=device)


def program(table: torch.Tensor, index: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    return table.index_copy(0, index, row)


def drive_workaround(f: Function, table: torch.Tensor, index: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    if index.min() < 0:
        raise IndexError(f"index_copy_(): index {int(index.min())} is out of bounds")
    return f(table, index, row)
