"""
torch.func.grad inside a compiled function ignores the backward of a custom autograd.Function.

Why: under a functorch transform Dynamo inlines the forward of the Function and differentiates that instead.
What to do: upgrade; right again in 2.15.0. On an affected release call torch.autograd.grad, or keep the derivative
out of the compiled region with torch.compiler.disable.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="functorch/autograd_function",
    devices=("cpu", "cuda"),
    ops=("func.grad", "autograd.Function"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/193279",),
)


class RoundThrough(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.round()

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([0.4, 1.6, -2.2], device=device),)


def loss(x: torch.Tensor) -> torch.Tensor:
    return (RoundThrough.apply(x) * 3.0).sum()


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(loss)(x)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.compiler.disable(torch.func.grad(loss))(x)
