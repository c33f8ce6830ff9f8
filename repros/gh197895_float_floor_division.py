"""
Floor division of floats is one too large when the quotient rounds up to a whole number.

Why: the lowering rounds a / b first and takes the floor then, so 1.0 // 0.1 becomes floor(10.0). Plain torch, like
Python, derives the quotient from the remainder and answers 9.0.
What to do: take the remainder away first: torch.round((a - torch.remainder(a, b)) / b).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/div",
    devices=("cpu", "cuda"),
    ops=("floor_divide", "div"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197895",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([1.0, 6.0, -7.5, 0.5], device=device), torch.tensor([0.1, 0.2, 2.0, 0.1], device=device)


def program(distance: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
    return distance // step


def workaround(distance: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
    return torch.round((distance - torch.remainder(distance, step)) / step)
