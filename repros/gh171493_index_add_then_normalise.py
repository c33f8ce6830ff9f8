"""
Dividing by group totals that were added up in the same graph divides by a part of them.

Why: with a single group every index is zero, the additions and the division are fused into one kernel, and programs
load the total while others still add to it.
What to do: give the totals a second row and drop it afterwards, or a release that does not fuse them (2.13 is right).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="scheduler/fusion",
    devices=("cpu", "cuda"),
    ops=("index_add",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/171493",),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(1.0, 201.0, device=device)[:, None], torch.zeros(200, dtype=torch.int64, device=device)


def program(x: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    square = x * x + 1
    total = x.new_zeros(1, 1).index_add(0, group, square)
    return square / total[group]


def workaround(x: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    square = x * x + 1
    total = x.new_zeros(2, 1).index_add(0, group, square)
    return square / total[group]
