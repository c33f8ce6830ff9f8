"""
celu_ with alpha=0 returns NaN instead of raising once compiled.

Why: the check of alpha lives in the kernel of celu_, and Inductor traces its decomposition, which divides by alpha.
What to do: upgrade; raises while tracing in 2.14.1. On an affected release check alpha yourself.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/celu",
    devices=("cpu",),
    ops=("celu_",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=("https://github.com/pytorch/pytorch/issues/183762",),
    related=("gh193757",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([-2.0, -0.5, 0.0, 1.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.celu_(x, 0.0)
