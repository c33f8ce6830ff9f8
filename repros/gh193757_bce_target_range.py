"""
binary_cross_entropy takes targets outside [0, 1] without complaint once compiled.

Why: the check of the targets lives in the CPU kernel, and the decomposition that replaces the kernel does not repeat
it.
What to do: check the targets yourself before the call.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/binary_cross_entropy",
    devices=("cpu",),
    ops=("nn.functional.binary_cross_entropy",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/193757",
        "https://github.com/pytorch/pytorch/issues/197554",
    ),
    related=("gh185246", "gh194501"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.full((4,), 0.5, device=device), torch.tensor([0.0, 1.0, 1.5, -1.0], device=device)


def program(p: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.binary_cross_entropy(p, target)
