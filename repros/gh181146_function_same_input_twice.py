"""
An autograd.Function that gets one tensor for two arguments loses one of its two gradients.

Why: Dynamo passes the tensor to its stand-in for the function once, and matches the gradients that backward returns to
arguments of which one is gone.
What to do: upgrade; right in 2.13.0, and in 2.9.1. On an affected release pass x.view_as(x) for the second argument.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="eager",
    culprit="higher_order_ops/autograd_function_apply",
    devices=("cpu", "cuda"),
    ops=("autograd.Function",),
    affected=(Affected(first_seen="2.11.0", last_seen="2.11.0", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/181146",),
)


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(left, right)
        return left * right

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[no-untyped-def]
        _, right = ctx.saved_tensors
        return grad * right, None


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 3.0], device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    return Product.apply(x, x)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return Product.apply(x, x.view_as(x))
