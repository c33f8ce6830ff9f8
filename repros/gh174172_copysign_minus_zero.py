"""
copysign with the Python number -0.0 loses the minus.

Why: the scalar is written into the kernel in a form that drops the sign of zero.
What to do: write -torch.abs(x), or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/copysign",
    devices=("cuda",),
    ops=("copysign",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/174172",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.tensor([0.5, -4.0, 7.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(x, -0.0)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return -torch.abs(x)
