"""
An in-place write to a leaf that requires grad raises.

Why: autograd would lose the leaf. The plain error is RuntimeError, compiled code raises TorchRuntimeError while it
traces.
What to do: write under torch.no_grad(), or compute a new tensor.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="An in-place write to a leaf that requires grad raises.",
    truth=Truth.HOLDS,
    ops=("Tensor.mul_",),
    references=("https://github.com/pytorch/pytorch/issues/2940",),
    related=("contract-leaf-write-without-grad",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(3, device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2.0)
    return x * 1.0


def claim(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
