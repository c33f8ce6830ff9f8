"""
A method that appends to a captured list loses the append when its object is created while compiling.

Why: for an object born inside the compiled function Dynamo does not know where the method's closure comes from; it
takes the captured list for a new one and drops the change when the function returns.
What to do: create the object outside the compiled function, or use a nested function instead of a method.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="side_effects",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/197896",
        "https://github.com/pytorch/pytorch/pull/198055",
    ),
    related=("gh169253",),
)


def make(device: str, outside: bool = False) -> Callable[[torch.Tensor], torch.Tensor]:
    widths: list[int] = []

    class Meter:
        def note(self, width: int) -> None:
            widths.append(width)

    kept = Meter()

    def step(x: torch.Tensor) -> torch.Tensor:
        (kept if outside else Meter()).note(x.shape[-1])
        return x + 1.0

    step.widths = widths
    return step


def make_workaround(device: str) -> Callable[[torch.Tensor], torch.Tensor]:
    return make(device, outside=True)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, 3, device=device),)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[int]:
    f(x)
    f(x)
    return f.widths
