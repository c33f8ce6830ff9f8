"""
cummax and cummin along an axis of size one make a kernel that names an index it does not have.

Why: the lowering writes the name of the reduction index into a kernel that has no reduction, because an axis of size
one is scanned by copying.
What to do: repeat the axis once and drop the second entry, or torch 2.8.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    devices=("cuda",),
    ops=("cummax", "cummin"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.8.0"),),
    matches=(r"rindex'? is not defined",),
    references=("https://github.com/pytorch/pytorch/issues/151738",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.tensor([[4.0], [-1.0], [2.5]], device=device),)


def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.cummax(x, 1)
    return values, indices


def workaround(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.cummax(x.repeat(1, 2), 1)
    return values[:, :1], indices[:, :1]
