"""
Padding a tensor of one element fills the border with that element instead of the value asked for.

Why: a load from a buffer of one element is emitted without its mask and without the value for the lanes outside. The
average pooling of a single element goes wrong in the same way.
What to do: concatenate the border, or torch 2.8.
"""

import torch
import torch.nn.functional as F

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cuda",),
    ops=("nn.functional.pad", "nn.functional.avg_pool1d"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.8.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/144462",
        "https://github.com/pytorch/pytorch/issues/143720",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.tensor([0.75], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return F.pad(x, (2, 1), value=9.0)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x.new_full((2,), 9.0), x, x.new_full((1,), 9.0)])
