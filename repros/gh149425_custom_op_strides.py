"""
A custom operator that returns other strides than its fake kernel promises ends in an AssertionError.

Why: Inductor plans memory by the strides of the fake kernel and checks the real result against them at run time. Plain
code never asks the fake kernel. torch.empty_like is the usual trap: it promises the strides of the input.
What to do: make both kernels agree; in the fake kernel write x.new_empty(x.shape) where the real one returns a
contiguous tensor.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="codegen/assert_size_stride",
    devices=("cpu", "cuda"),
    ops=("library.custom_op", "empty_like"),
    affected=(Affected(first_seen="2.8.0"),),
    matches=(r"expected size \d+==\d+, stride \d+==\d+ at dim=\d+",),
    references=(
        "https://github.com/pytorch/pytorch/issues/149425",
        "https://github.com/pytorch/pytorch/issues/169778",
        "https://github.com/pytorch/pytorch/issues/182328",
    ),
)


@torch.library.custom_op("compilefix::gh149425_promise", mutates_args=())
def promise(x: torch.Tensor) -> torch.Tensor:
    return (x * 2.0).contiguous()


@promise.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("compilefix::gh149425_keep", mutates_args=())
def keep(x: torch.Tensor) -> torch.Tensor:
    return (x * 2.0).contiguous()


@keep.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(6.0, device=device).reshape(2, 3),)


def program(x: torch.Tensor) -> torch.Tensor:
    return promise(x.t()) + 1.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    return keep(x.t()) + 1.0
