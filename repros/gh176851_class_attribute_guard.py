"""
A compiled function goes on with the old value of a class attribute that was changed.

Why: the number read from the class is baked into the graph as a constant and no guard looks at the class again.
What to do: pass the value as an argument; right again in 2.13.0.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="guards/class_attribute",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.10.0", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/176851",),
)


class Settings:
    offset = 5.0


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x + Settings.offset


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    results = []
    for value in (5.0, -20.0, 300.0):
        Settings.offset = value
        results.append(f(x))
    return results
