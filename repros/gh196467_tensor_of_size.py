"""
torch.Tensor(x.size()) makes a tensor of the sizes instead of a tensor of that size.

Why: Dynamo writes the torch.Size into the graph as a plain tuple. The old constructor takes a torch.Size for a shape
and a tuple for data.
What to do: write torch.empty(x.size()), or upgrade; right in 2.15.0.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="variables/Tensor",
    devices=("cpu",),
    ops=("Tensor",),
    affected=(Affected(first_seen="2.4.1", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/196467",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(3, 2, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.Tensor(x.size()).fill_(1.0)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.empty(x.size()).fill_(1.0)
