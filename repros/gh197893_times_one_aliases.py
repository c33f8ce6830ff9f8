"""
x * 1 returns x itself once compiled, so a write into the result changes the argument.

Why: a pass drops the multiplication because it changes no value, without asking whether an output then becomes an
input. Plain code always returns a tensor of its own. x + 0 and x / 1 go the same way.
What to do: write x.clone() where a tensor of its own is needed.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="joint_graph_passes/constant_fold_uniform_value",
    devices=("cpu", "cuda"),
    ops=("mul", "add", "div"),
    references=("https://github.com/pytorch/pytorch/issues/197893",),
    affected=(Affected(first_seen="2.14.1"),),
    related=("gh177631", "gh197489"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * 1


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
