"""
Compiled sinh is infinite just below the float32 limit where the plain one is finite.

Why: the generated vector code calls a SIMD sinh that works with exp(x) and so overflows for |x| above 88.7, although
sinh(x), half of that, still fits into float32.
What to do: call sinh in float64 and cast back; right again in 2.14.1.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/sinh",
    ops=("sinh",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/183763",
        "https://github.com/pytorch/pytorch/pull/184359",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([0.5, 89.1, -88.9, 88.95, 3.0, -89.2], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.sinh(x)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.sinh(x.double()).to(x.dtype)
