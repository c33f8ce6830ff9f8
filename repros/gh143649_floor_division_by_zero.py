"""
An integer floor division by zero raises plainly and kills the process when compiled.

Why: the generated C++ divides without looking at the divisor, and the processor traps.
What to do: upgrade; raises as it should in 2.13.0. On an affected release replace zeros before dividing.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.CRASH,
    stage="inductor",
    culprit="codegen/floor_divide",
    devices=("cpu",),
    ops=("floor_divide",),
    affected=(Affected(first_seen="2.9.1", last_seen="2.9.1", fixed="2.13.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/143649",
        "https://github.com/pytorch/pytorch/pull/186021",
    ),
    related=("gh147206",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([12, 5, 3], device=device), torch.tensor([5, 1, 0], device=device)


def program(dividend: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    return dividend // divisor
