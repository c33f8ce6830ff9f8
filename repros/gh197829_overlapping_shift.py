"""
Shifting a tensor by one in place reads rows that were already overwritten.

Why: the clone on the right-hand side is removed as a no-op, then the slice write is done in place; source and target
overlap, so row 0 spreads through the whole tensor. On CUDA blocks race and only large tensors show it.
What to do: build the shifted tensor with torch.cat (or torch.roll) and copy_ it back; right again in 2.15.0.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    ops=("clone", "slice_scatter"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/197829",
        "https://github.com/pytorch/pytorch/pull/198010",
    ),
    related=("gh198094", "gh198031", "contract-clone-protects-input"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(150.0, device=device).reshape(5, 30),)


def program(window: torch.Tensor) -> torch.Tensor:
    window[1:] = window[:-1].clone()
    return window * 2.0


def workaround(window: torch.Tensor) -> torch.Tensor:
    window.copy_(torch.cat([window[:1], window[:-1]]))
    return window * 2.0
