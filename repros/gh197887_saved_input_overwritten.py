"""
Overwriting an input between forward and backward gives a wrong gradient instead of autograd's error.

Why: the backward saved a view of the input that Inductor rebuilt with a version counter of its own, so autograd
cannot see that the data underneath changed. Plain code and aot_eager refuse.
What to do: do not reuse an input buffer before backward() has run; hand the compiled function a copy.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="inductor",
    culprit="codegen/reinterpret_tensor",
    devices=("cpu", "cuda"),
    ops=("mm", "matmul", "nn.functional.linear"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197887",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    x = torch.arange(1.0, 7.0, device=device).reshape(2, 3)
    return x, torch.eye(3, device=device).requires_grad_()


def program(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x @ weight


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor | None:
    y = f(x, weight)
    x.zero_()
    y.sum().backward()
    return weight.grad
