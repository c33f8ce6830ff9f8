"""
The gradient of atan2(...).amin() is zero because the minimum is not found again.

Why: the backward compares the saved minimum with values that it computes anew, in another kernel whose vector code
rounds differently, so none of them is equal to the minimum.
What to do: take torch.min(values, dim).values, whose backward uses the saved index.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="inductor",
    culprit="codegen/atan2",
    devices=("cpu",),
    ops=("atan2", "amin", "amax"),
    requires=("avx2",),
    affected=(Affected(first_seen="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/186799",),
    related=("gh185509",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    x = torch.tensor([[1.0, 9.0, 8.0], [2.0, 7.0, 6.0]], device=device)
    y = torch.tensor([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], device=device)
    return x.requires_grad_(), y.requires_grad_()


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.atan2(x, y).amin(1)


def workaround(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.atan2(x, y).min(1).values
