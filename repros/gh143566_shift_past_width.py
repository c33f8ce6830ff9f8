"""
Shifting an integer by its width or more leaves the number instead of 0.

Why: C++ leaves such a shift undefined, and the processor takes the shift modulo the width. Plain code answers 0, or
the sign when shifting right.
What to do: upgrade; right in 2.9.1. On an affected release put a torch.where around the shift.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/bitwise_left_shift",
    devices=("cpu",),
    ops=("bitwise_left_shift", "bitwise_right_shift"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/143566",
        "https://github.com/pytorch/pytorch/issues/143555",
    ),
    related=("gh143649",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([1000, 5, -9], device=device), torch.tensor([64, 70, 3], device=device)


def program(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    return torch.bitwise_left_shift(x, by)


def workaround(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    return torch.where(by < 64, torch.bitwise_left_shift(x, by.clamp(0, 63)), 0)
