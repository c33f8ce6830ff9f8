"""
random.seed inside a compiled function has no effect on the first call.

Why: the seed reaches the copy of the generator that Dynamo traces with, while the numbers of the compiling call are
drawn from the live one; from the second call on both agree.
What to do: upgrade; right in 2.15.0. On an affected release seed before the compiled function is called, or seed and
draw in a helper under torch.compiler.disable.
"""

import random
from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="dynamo/random.seed",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.14.1", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197101",),
    related=("gh197085",),
)


@torch.compiler.disable
def seeded_number() -> float:
    random.seed(3)
    return random.random()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(2, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    random.seed(3)
    return x + random.random()


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x + seeded_number()


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    random.seed(77)
    return [f(x), f(x)]
