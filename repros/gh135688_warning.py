"""
warnings.warn breaks the graph.

Why: the function is C code with a side effect that Dynamo does not trace, unlike print, which it can put off.
What to do: warn only in plain code, under if not torch.compiler.is_compiling(), or add warnings.warn to
torch._dynamo.config.reorderable_logging_functions.
"""

import warnings

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.GRAPH_BREAK,
    stage="eager",
    culprit="graph_break/warnings",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1"),),
    expects={"graph_breaks": 0},
    references=("https://github.com/pytorch/pytorch/issues/135688",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    warnings.warn("the scale is a guess", stacklevel=2)
    return y + 1.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    if not torch.compiler.is_compiling():
        warnings.warn("the scale is a guess", stacklevel=2)
    return y + 1.0
