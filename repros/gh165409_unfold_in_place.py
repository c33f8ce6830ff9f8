"""
An in-place operation on an overlapping unfold view is refused when compiled.

Why: functionalisation bans a write through a view whose elements share memory, since its result is not well defined;
plain PyTorch finds only the simple cases of such an overlap and lets this one pass.
What to do: apply the operation to the base before unfolding, or to a clone of the view.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="functionalization/unfold",
    devices=("cpu", "cuda"),
    ops=("Tensor.unfold",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/165409",
        "https://github.com/pytorch/pytorch/issues/98143",
    ),
    matches=(r"tensor being mutated that has internal overlap",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([-1.0, 2.0, -3.0, 4.0, -5.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    windows = (x + 0.5).unfold(0, 3, 1)
    return windows.relu_()


def workaround(x: torch.Tensor) -> torch.Tensor:
    return (x + 0.5).relu_().unfold(0, 3, 1)
