"""
After detach_() a compiled function still says that the tensor requires a gradient.

Why: Dynamo answers requires_grad from what it knew of the tensor before the in-place detach, so a branch on it goes
the wrong way.
What to do: upgrade; right in 2.13.0. On an affected release write y = y.detach().
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="dynamo/detach_",
    devices=("cpu", "cuda"),
    ops=("Tensor.detach_",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/176854",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    y = x * 3
    y.detach_()
    return x + y if y.requires_grad else x - y


def workaround(x: torch.Tensor) -> torch.Tensor:
    y = (x * 3).detach()
    return x + y if y.requires_grad else x - y
