"""
A value read through a dtype view of an input is computed after a later write into that input.

Why: the write is done in the input's own buffer, and the order between it and the read is lost because the read goes
through a view of another type.
What to do: change the value out of place, doubled = doubled + 4, before it is viewed again.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/sub",
    devices=("cpu", "cuda"),
    ops=("Tensor.view", "Tensor.__setitem__"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/198101",),
    related=("gh197408",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(-12, 12, device=device).reshape(4, 6),)


def program(x: torch.Tensor) -> torch.Tensor:
    doubled = x.view(torch.int32) * 2
    doubled.sub_(-4)
    x[:, 2:5] = 7
    return doubled.view(torch.int64)


def workaround(x: torch.Tensor) -> torch.Tensor:
    doubled = x.view(torch.int32) * 2 + 4
    x[:, 2:5] = 7
    return doubled.view(torch.int64)
