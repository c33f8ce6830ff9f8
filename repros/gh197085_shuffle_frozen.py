"""
random.shuffle in a compiled function gives the same order on every call.

Why: the shuffle runs while Dynamo traces, and the order that came out is baked into the graph; later calls neither
shuffle nor move the state of the generator on.
What to do: shuffle in a helper under torch.compiler.disable, or use torch.randperm.
"""

import random
from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="dynamo/random.shuffle",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.14.1"),),
    references=("https://github.com/pytorch/pytorch/issues/197085",),
    related=("gh197101",),
)


@torch.compiler.disable
def shuffled_plainly(order: list[int]) -> list[int]:
    random.shuffle(order)
    return order


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(8.0, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    random.shuffle(order)
    return torch.stack([x[i] for i in order])


def workaround(x: torch.Tensor) -> torch.Tensor:
    order = shuffled_plainly([0, 1, 2, 3, 4, 5, 6, 7])
    return torch.stack([x[i] for i in order])


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    random.seed(5)
    return [f(x) for _ in range(3)]
