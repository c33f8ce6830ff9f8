"""
A chain of pointwise steps, each of which uses the two results before it twice, compiles for minutes.

Why: the time that Inductor needs grows by a factor with every step, fastest for the backward graph. The program itself
only grows by two operators a step, and the backends before Inductor compile it at once.
What to do: compile fewer steps at a time, with torch._dynamo.graph_break() between them.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.HANG,
    stage="inductor",
    culprit="lowerings/realize_reads_threshold",
    devices=("cpu", "cuda"),
    ops=("mul", "add"),
    affected=(Affected(first_seen="2.6.0"),),
    limit=20.0,
    references=("https://github.com/pytorch/pytorch/issues/148073",),
)

STEPS = 14


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.full((2,), 0.5, device=device, requires_grad=True),
        torch.full((2,), 0.25, device=device, requires_grad=True),
    )


def program(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    for _ in range(STEPS):
        left, right = left + right, left * right
    return left + right


def workaround(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    for step in range(STEPS):
        if step % 4 == 3:
            torch._dynamo.graph_break()
        left, right = left + right, left * right
    return left + right
