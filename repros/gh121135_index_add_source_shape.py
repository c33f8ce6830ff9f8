"""
index_add takes a source of the wrong rank when compiled and broadcasts it.

Why: the decomposition hands the source to index_put, which broadcasts; of its shape it checks only the size along dim.
What to do: check the rank before the call; torch._check does so inside the compiled region.
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
    references=("https://github.com/pytorch/pytorch/issues/121135",),
    related=("gh185885",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.zeros(4, 2, device=device),
        torch.tensor([1, 3], device=device),
        torch.tensor([7.0, 9.0], device=device),
    )


def program(table: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return table.index_add(0, index, rows)


def workaround(table: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    torch._check(rows.dim() == table.dim(), lambda: "index_add(): source and self must have the same rank")
    return table.index_add(0, index, rows)
