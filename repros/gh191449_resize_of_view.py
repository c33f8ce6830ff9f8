"""
resize_ of a view also resizes the tensor that it is a view of.

Why: the graph breaks at resize_. Inductor drops the no-op view and returns one tensor twice where plain code has two
that share memory, so the call in between changes both.
What to do: upgrade; right in 2.15.0. On an affected release make the larger tensor with new_zeros and copy into it.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    devices=("cpu", "cuda"),
    ops=("Tensor.resize_",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/191449",
        "https://github.com/pytorch/pytorch/pull/191844",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(1, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    base = x + 1.0
    view = base.view(-1)
    view.resize_(3)
    return base * 2.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    base = x + 1.0
    view = base.new_zeros(3)
    view[:1] = base
    return base * 2.0
