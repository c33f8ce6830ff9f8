"""
A set subclass with an __iter__ of its own compares by that method instead of by its members.

Why: Dynamo models the comparison by iterating the object; Python compares the stored members and never asks __iter__.
What to do: make it a plain set before the call, with set().union(custom); right again in 2.14.1.
"""

from collections.abc import Callable, Iterator

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="variables/set.__eq__",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.9.1", last_seen="2.13.0", fixed="2.14.1"),),
    references=("https://github.com/pytorch/pytorch/issues/186671",),
)


class Odd(set):
    def __iter__(self) -> Iterator[int]:
        return iter([-1])


def inputs(device: str) -> tuple[object, ...]:
    return torch.zeros(3, device=device), {4, 5}, Odd({4, 5})


def program(x: torch.Tensor, plain: set, custom: set) -> torch.Tensor:
    return x + 1.0 if plain == custom else x - 1.0


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor, plain: set, custom: set) -> torch.Tensor:
    return f(x, plain, custom)


def drive_workaround(f: Callable[..., torch.Tensor], x: torch.Tensor, plain: set, custom: set) -> torch.Tensor:
    return f(x, plain, set().union(custom))
