"""
A method whose code is replaced on its class keeps running the old code.

Why: Dynamo guards on the code of functions that it finds through a name, and not on those of methods that it finds on
the class of an object.
What to do: call torch.compiler.reset() after patching, or patch before the first call.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="guards/method_code",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/197860",
        "https://github.com/pytorch/pytorch/pull/198124",
    ),
)


class Scale:
    def apply(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2.0


def other(self: Scale, x: torch.Tensor) -> torch.Tensor:
    return x * 9.0


SCALE = Scale()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return SCALE.apply(x)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    before = f(x)
    Scale.apply = other  # type: ignore[method-assign]
    return [before, f(x)]


def drive_workaround(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    before = f(x)
    Scale.apply = other  # type: ignore[method-assign]
    torch.compiler.reset()
    return [before, f(x)]
