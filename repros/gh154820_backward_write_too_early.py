"""
What a custom autograd function writes in its backward is written during the forward already.

Why: the write is traced with the backward, but nothing ties it to an incoming gradient, so the partitioner put it
into the forward graph.
What to do: Inductor is right from 2.9.1 on, though aot_eager_decomp_partition is not. Before that call the function
under torch.compiler.disable.
"""

from collections.abc import Callable
from typing import Any

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager_decomp_partition",
    culprit="partitioner/min_cut_rematerialization_partition",
    devices=("cpu", "cuda"),
    ops=("autograd.Function",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/154820",),
)


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, visits: torch.Tensor) -> torch.Tensor:
        visits.add_(1)
        ctx.visits = visits
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        ctx.visits.add_(100)
        return grad, None


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([1.0, 2.0], device=device, requires_grad=True), torch.zeros(1, device=device)


def program(x: torch.Tensor, visits: torch.Tensor) -> torch.Tensor:
    return Counted.apply(x, visits) * 2


@torch.compiler.disable
def counted(x: torch.Tensor, visits: torch.Tensor) -> torch.Tensor:
    return Counted.apply(x, visits)


def workaround(x: torch.Tensor, visits: torch.Tensor) -> torch.Tensor:
    return counted(x, visits) * 2


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor, visits: torch.Tensor) -> dict[str, torch.Tensor]:
    y = f(x, visits)
    after_forward = visits.clone()
    y.sum().backward()
    return {"after forward": after_forward, "after backward": visits.clone()}
