"""
The minimum of an int8 or uint8 tensor that holds only positive numbers comes out as 0.

Why: the vectorised reduction fills lanes that have no element with 0 instead of the largest number of the type. A
maximum of negative numbers goes wrong alike.
What to do: reduce in a wider type: x.to(torch.int32).amin(0).to(x.dtype).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/amin",
    devices=("cpu",),
    ops=("amin", "amax", "argmin", "argmax", "min", "max"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/191499",),
    related=("gh174069",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(5, 25, dtype=torch.uint8, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.amin(0)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.int32).amin(0).to(x.dtype)
