"""
addmm with beta=0 returns NaN where the ignored input holds one.

Why: for a single row Inductor writes addmm as a sum of products plus beta * input, and 0 * NaN is NaN. The
documentation says that the input is ignored when beta is 0, and its NaN not propagated. The same goes for alpha=0.
What to do: write torch.mm(a, b) where the input is to be ignored.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/addmm",
    devices=("cpu",),
    ops=("addmm",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/196596",),
    related=("gh195579",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    ignored = torch.full((4,), float("nan"), device=device)
    return ignored, torch.ones(1, 3, device=device), torch.arange(12.0, device=device).reshape(3, 4)


def program(ignored: torch.Tensor, row: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    return torch.addmm(ignored, row, matrix, beta=0)


def workaround(ignored: torch.Tensor, row: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    return torch.mm(row, matrix)
