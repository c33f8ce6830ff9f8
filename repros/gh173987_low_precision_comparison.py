"""
Comparing a bfloat16 tensor with a Python number compares with the number unrounded.

Why: the comparison widens the tensor to float32 and keeps the scalar in full precision; plain code rounds the scalar
to the tensor's type first, so that an entry stored from 2.7 equals 2.7.
What to do: compare with a number that the type holds exactly (2.703125 for 2.7 in bfloat16), or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/eq",
    devices=("cpu", "cuda"),
    ops=("eq", "ge"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/173987",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.tensor([2.7, 2.0, 3.5, 0.3], device=device, dtype=torch.bfloat16),)


def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x == 2.7, x >= 0.3


def workaround(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x == 2.703125, x >= 0.30078125
