"""
What a compiled forward appends to a list of its class is lost.

Why: the list is reached through the class and not through the instance; Dynamo takes the append as a change to a
constant and does not replay it after the call.
What to do: return the value, or keep the list on the instance; right again in 2.13.0.
"""

from collections.abc import Callable
from typing import ClassVar

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="side_effects",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/169253",),
    related=("gh197896",),
)


class Probe(torch.nn.Module):
    means: ClassVar[list[torch.Tensor]] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Probe.means.append(x.mean())
        return x * 3.0


class InstanceProbe(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.means: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.means.append(x.mean())
        return x * 3.0


def make(device: str) -> torch.nn.Module:
    return Probe()


def make_workaround(device: str) -> torch.nn.Module:
    return InstanceProbe()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(4.0, device=device), torch.arange(4.0, 8.0, device=device)


def drive(f: Callable[[torch.Tensor], torch.Tensor], a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    f(a)
    f(b)
    return list(f.means)
