"""
The index of the maximum of a boolean tensor is not the first true entry.

Why: the reduction compares booleans with an initial value that equals a real entry, so its index may win the tie.
What to do: convert to an integer type before asking for an index, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/max",
    devices=("cuda",),
    ops=("max",),
    affected=(Affected(first_seen="2.9.1", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/174069",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    rows = torch.arange(10, device=device)[:, None].expand(10, 12)
    return ((rows >= 4).contiguous(),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.max(dim=0, keepdim=True).indices


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.int32).max(dim=0, keepdim=True).indices
