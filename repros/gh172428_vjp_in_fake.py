"""
A custom operator whose fake implementation calls torch.func.vjp cannot be compiled.

Why: the compiler runs the fake implementation on fake tensors. Inside vjp one of them is wrapped for functorch, and the
fake mode takes the wrapper for a real tensor and refuses to mix the two.
What to do: only describe the result in the fake implementation, with torch.empty_like and the like.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="fake_tensor/custom_op",
    devices=("cpu", "cuda"),
    ops=("library.custom_op", "func.vjp"),
    affected=(Affected(first_seen="2.6.0"),),
    matches=(r"Please convert all Tensors to FakeTensors first", r"GradTrackingTensor"),
    references=("https://github.com/pytorch/pytorch/issues/172428",),
)


@torch.library.custom_op("compilefix::gh172428_scale", mutates_args=())
def scale(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return x * factor


@scale.register_fake
def _(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return torch.func.vjp(lambda f: x * f, factor)[0]


@torch.library.custom_op("compilefix::gh172428_scale_plain_fake", mutates_args=())
def scale_plain_fake(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return x * factor


@scale_plain_fake.register_fake
def _(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(4.0, device=device), torch.full((4,), 3.0, device=device)


def program(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return scale(x, factor)


def workaround(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return scale_plain_fake(x, factor)
