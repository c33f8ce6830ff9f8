"""
avg_pool2d of integers returns zeros or sums instead of averages.

Why: the lowering multiplies by the reciprocal of the window's size, which as an integer is 0 or 1.
What to do: upgrade; right in 2.9.1. On an affected release pool floats and truncate: avg_pool2d(x.double(),
2).long().
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/avg_pool2d",
    devices=("cpu",),
    ops=("nn.functional.avg_pool2d",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/143738",),
    related=("gh198119",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(32, device=device).reshape(1, 2, 4, 4),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.avg_pool2d(x, 2)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.avg_pool2d(x.to(torch.float64), 2).to(x.dtype)
