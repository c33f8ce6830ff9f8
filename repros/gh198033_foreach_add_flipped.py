"""
torch._foreach_add_ of a tensor's own mirror image reads entries that it has overwritten.

Why: the in-place form is restored without a look at how the other operand is computed. Its flip is fused into the same
kernel and reads the tensor at mirrored places while other programs write there; below one block it looks right.
What to do: write x.add_(x.flip(0)) a tensor at a time (measured on 2.11.0 and 2.13.0; no help on 2.6.0), or torch 2.15.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    devices=("cpu", "cuda"),
    ops=("_foreach_add_", "flip"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/198033",),
    related=("gh198270", "gh198280"),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.arange(4096.0, device=device).reshape(64, 64),)


def program(x: torch.Tensor) -> torch.Tensor:
    torch._foreach_add_([x], [x.flip(0)])
    return x + 1


def workaround(x: torch.Tensor) -> torch.Tensor:
    x.add_(x.flip(0))
    return x + 1
