"""
The body of a generator runs outside the context manager under which it is advanced.

Why: Dynamo ran a generator to its end where it is made, so what should happen in a later with block had already
happened.
What to do: upgrade; right in 2.9.1. On an affected release advance the generator in a function under
torch.compiler.disable.
"""

from collections.abc import Iterator

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="eager",
    culprit="dynamo/generator",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/134030",
        "https://github.com/pytorch/pytorch/pull/141055",
    ),
)


def pieces(x: torch.Tensor) -> Iterator[torch.Tensor]:
    yield x * 2
    yield x * 3


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device, requires_grad=True),)


def program(x: torch.Tensor) -> torch.Tensor:
    numbers = pieces(x)
    first = next(numbers)
    with torch.no_grad():
        second = next(numbers)
    return first * second


@torch.compiler.disable
def both_pieces(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    numbers = pieces(x)
    first = next(numbers)
    with torch.no_grad():
        return first, next(numbers)


def workaround(x: torch.Tensor) -> torch.Tensor:
    first, second = both_pieces(x)
    return first * second
