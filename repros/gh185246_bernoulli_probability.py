"""
torch.bernoulli accepts probabilities outside of 0 to 1 when compiled.

Why: the decomposition compares a uniform draw with the probability and leaves out the range check of the kernel.
What to do: clamp or check the probabilities before the compiled region.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/bernoulli",
    devices=("cpu",),
    ops=("bernoulli",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/185246",),
    related=("gh197554",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([0.25, 1.5, 0.75], device=device),)


def program(p: torch.Tensor) -> torch.Tensor:
    return torch.bernoulli(p)


def workaround(p: torch.Tensor) -> torch.Tensor:
    torch._assert_async(((p >= 0) & (p <= 1)).all(), "probability out of 0 to 1")
    return torch.bernoulli(p)
