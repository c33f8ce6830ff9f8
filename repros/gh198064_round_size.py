"""
round(n, -1) of a size returns the size as it is when shapes are dynamic.

Why: a symbolic integer returns itself from round whatever the number of digits, which is right for zero and more digits
and wrong for less.
What to do: write (n + 5) // 10 * 10, or another formula in whole numbers.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="symbolic_shapes/SymInt.__round__",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0"),),
    compile={"dynamic": True},
    references=("https://github.com/pytorch/pytorch/issues/198064",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(17, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * round(x.shape[0], -1)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x * ((x.shape[0] + 5) // 10 * 10)
