"""
A class that is defined inside the compiled function breaks the graph.

Why: Dynamo does not trace the body of a class statement. 2.9.1 and earlier counted no break: they left the whole
function to plain Python.
What to do: define the class outside.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/build_class",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.11.0"),),
    expects={"graph_breaks": 0},
    references=(
        "https://github.com/pytorch/pytorch/issues/128942",
        "https://github.com/pytorch/pytorch/pull/161670",
    ),
)


class Outside:
    factor = 3.0


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    class Inside:
        factor = 3.0

    return x * Inside.factor


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x * Outside.factor
