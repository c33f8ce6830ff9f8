"""
Functions of heapq break the graph, even on plain numbers.

Why: heapq runs C code that Dynamo does not look into. A Python version for tracing has been part of torch since 2.10,
but was not registered.
What to do: upgrade; compiled in 2.15.0. On an affected release use sorted, min or max.
"""

import heapq

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/heapq",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1", last_seen="2.14.1", fixed="2.15.0"),),
    expects={"graph_breaks": 0},
    references=(
        "https://github.com/pytorch/pytorch/issues/106885",
        "https://github.com/pytorch/pytorch/pull/192130",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    widths = [5, 3, 4]
    heapq.heapify(widths)
    return x * heapq.heappop(widths)


def workaround(x: torch.Tensor) -> torch.Tensor:
    widths = sorted([5, 3, 4])
    return x * widths.pop(0)
