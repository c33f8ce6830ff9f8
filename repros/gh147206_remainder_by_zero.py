"""
An integer remainder by zero raises plainly and kills the process when compiled.

Why: the generated C++ divides without looking at the divisor, and the processor traps.
What to do: upgrade; raises as it should in 2.13.0, which on arm64 was also reported to raise where no divisor is zero
(issue 191968). On an affected release replace zeros before dividing.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.CRASH,
    stage="inductor",
    culprit="codegen/remainder",
    devices=("cpu",),
    ops=("remainder",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.12.1", fixed="2.13.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/147206",
        "https://github.com/pytorch/pytorch/pull/179923",
        "https://github.com/pytorch/pytorch/issues/191968",
    ),
    related=("gh143649",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([7, 8, 9], device=device), torch.tensor([4, 0, 5], device=device)


def program(dividend: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    return torch.remainder(dividend, divisor) * 2
