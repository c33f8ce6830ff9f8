"""
deque.rotate breaks the graph.

Why: Dynamo's model of a deque had every other method, but not this one.
What to do: upgrade; compiled in 2.14.1. On an affected release write d.appendleft(d.pop()).
"""

import collections

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/deque_rotate",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    expects={"graph_breaks": 0},
    references=("https://github.com/pytorch/pytorch/pull/191403",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    turns = collections.deque([2.0, 3.0, 4.0])
    turns.rotate(1)
    return x * turns[0]


def workaround(x: torch.Tensor) -> torch.Tensor:
    turns = collections.deque([2.0, 3.0, 4.0])
    turns.appendleft(turns.pop())
    return x * turns[0]
