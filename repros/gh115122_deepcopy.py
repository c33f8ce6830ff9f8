"""
copy.deepcopy of a tensor breaks the graph.

Why: Dynamo traces deepcopy only for containers of constants (since 2.13.0; before, for nothing): a fake tensor cannot
be copied that way.
What to do: write x.clone() for a tensor.
"""

import copy

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/deepcopy",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1"),),
    expects={"graph_breaks": 0},
    references=(
        "https://github.com/pytorch/pytorch/issues/115122",
        "https://github.com/pytorch/pytorch/pull/177484",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    kept = copy.deepcopy(x)
    return kept + 1.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    kept = x.clone()
    return kept + 1.0
