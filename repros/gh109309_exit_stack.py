"""
contextlib.ExitStack and contextlib.suppress leave the whole function to plain Python.

Why: Dynamo refused all context managers of contextlib except contextmanager and nullcontext.
What to do: upgrade; compiled in 2.11.0. On an affected release write with statements, and try for suppress.
"""

import contextlib

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/contextlib",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1", last_seen="2.9.1", fixed="2.11.0"),),
    expects={"graph_breaks": 0},
    references=(
        "https://github.com/pytorch/pytorch/issues/109309",
        "https://github.com/pytorch/pytorch/pull/136033",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    with contextlib.suppress(ValueError):
        x = x + 1.0
        raise ValueError
    return x * 2.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    try:
        x = x + 1.0
        raise ValueError
    except ValueError:
        pass
    return x * 2.0
