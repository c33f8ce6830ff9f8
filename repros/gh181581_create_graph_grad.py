"""
A gradient that a compiled function takes with create_graph=True cannot be differentiated again.

Why: AOTAutograd traces the backward pass once and has no second derivative of it, so differentiating the result
raises.
What to do: take the inner gradient outside the compiled function.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="aot_autograd/create_graph",
    devices=("cpu", "cuda"),
    ops=("autograd.grad",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/181581",
        "https://github.com/pytorch/pytorch/pull/181606",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return slope


@torch.compiler.disable
def slope_plainly(x: torch.Tensor) -> torch.Tensor:
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return slope


def workaround(x: torch.Tensor) -> torch.Tensor:
    return slope_plainly(x)
