"""
A module that counts its calls in an int attribute is compiled again at every call.

Why: Dynamo takes an int attribute of a module for a constant and guards on its value. Unlike an int argument it is
never made dynamic by default.
What to do: set torch._dynamo.config.allow_unspec_int_on_nn_module, or keep the count in a buffer.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.RECOMPILE,
    stage="eager",
    culprit="guards/int_attribute",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.8.0"),),
    expects={"recompiles": 1},
    workaround_config={"torch._dynamo.config.allow_unspec_int_on_nn_module": True},
    references=(
        "https://github.com/pytorch/pytorch/issues/98928",
        "https://github.com/pytorch/pytorch/issues/124717",
    ),
    related=("local-growing-list-recompiles",),
)


class Warmup(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 10

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


def make(device: str) -> torch.nn.Module:
    return Warmup()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, device=device),)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    return [f(x) for _ in range(5)]
