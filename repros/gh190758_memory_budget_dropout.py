"""
With an activation memory budget below 1 the backward pass draws a new dropout mask.

Why: the partitioner decides to recompute the dropout instead of saving its mask, and the second draw is not the first
one, so the gradient belongs to another mask than the result.
What to do: leave torch._functorch.config.activation_memory_budget at 1.0 where the function draws random numbers.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="aot_eager",
    culprit="partitioner/activation_memory_budget",
    devices=("cpu", "cuda"),
    ops=("nn.functional.dropout",),
    affected=(Affected(first_seen="2.6.0"),),
    random=True,
    config={"torch._functorch.config.activation_memory_budget": 0.0},
    workaround_config={"torch._functorch.config.activation_memory_budget": 1.0},
    references=(
        "https://github.com/pytorch/pytorch/issues/190758",
        "https://github.com/pytorch/pytorch/issues/190717",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.linspace(0.2, 1.2, 400, device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.dropout(x.exp(), 0.4).square()


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> dict[str, bool]:
    y = f(x)
    y.sum().backward()
    dropped = y.detach() == 0
    x.grad, gradient = None, x.grad
    return {"grad is zero exactly where dropped": bool(torch.equal(gradient == 0, dropped))}
