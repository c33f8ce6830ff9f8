"""
The gradient of a gradient that a compiled function returns raises RuntimeError.

Why: AOTAutograd makes one backward graph, and that graph has no backward of its own.
What to do: take the first gradient with torch.func.grad inside, so that it is part of the forward graph.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="aot_autograd/double_backward",
    devices=("cpu", "cuda"),
    ops=("autograd.grad",),
    affected=(Affected(first_seen="2.4.1"),),
    matches=(r"does not currently support double backward",),
    references=(
        "https://github.com/pytorch/pytorch/issues/183603",
        "https://github.com/pytorch/pytorch/issues/91469",
        "https://github.com/pytorch/pytorch/pull/92348",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([0.5, 1.5], device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    energy = (x**4).sum()
    (slope,) = torch.autograd.grad(energy, x, create_graph=True)
    return slope


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(lambda position: (position**4).sum())(x)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    (curvature,) = torch.autograd.grad(f(x).sum(), x)
    return curvature
