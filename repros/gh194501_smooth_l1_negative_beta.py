"""
smooth_l1_loss accepts a negative beta when compiled.

Why: the decomposition computes the loss without the check that the operator makes on its argument.
What to do: check beta before the compiled region.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/smooth_l1_loss",
    devices=("cpu", "cuda"),
    ops=("nn.functional.smooth_l1_loss",),
    affected=(Affected(first_seen="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/194501",),
    related=("gh197554",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([2.0, -1.0], device=device), torch.tensor([0.5, 0.5], device=device)


def program(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.smooth_l1_loss(x, target, beta=-1.0)


def workaround(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    beta = -1.0
    torch._check(beta >= 0, lambda: "smooth_l1_loss does not support negative values for beta")
    return torch.nn.functional.smooth_l1_loss(x, target, beta=beta)
