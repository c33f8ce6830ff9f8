"""
The absolute value of the smallest int8 is -128 plainly and 128 when it is widened in the same kernel.

Why: the generated C++ keeps the result of abs as int, so the wrap-around to int8 is gone when the next conversion
follows.
What to do: widen before abs where 128 is meant; where -128 is, keep it: torch.where(x == -128, x, x.abs()).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/abs",
    devices=("cpu",),
    ops=("abs",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/pull/191132",
        "https://github.com/pytorch/pytorch/issues/187018",
    ),
    related=("gh191499",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([-128, -127, 5], dtype=torch.int8, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.abs().to(torch.int64)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x == -128, x, x.abs()).to(torch.int64)
