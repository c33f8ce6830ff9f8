"""
A compiled module goes on with a submodule that an entry of the instance's __dict__ has replaced.

Why: Python looks into the instance's __dict__ before the module's own tables, but no guard watches for a new name
there.
What to do: replace a submodule by plain assignment, module.name = other, which is guarded.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="guards/module_dict",
    devices=("cpu", "cuda"),
    ops=("nn.Module",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197859",),
    related=("gh153605", "gh176851"),
)


class Doubles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Squares(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


class Wrapper(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Doubles()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


def inputs(device: str) -> tuple[object, ...]:
    return Wrapper(), torch.tensor([3.0, 5.0], device=device)


def program(module: Wrapper, x: torch.Tensor) -> torch.Tensor:
    return module(x)


def drive(f: Callable[..., torch.Tensor], module: Wrapper, x: torch.Tensor) -> list[torch.Tensor]:
    before = f(module, x)
    object.__setattr__(module, "inner", Squares())
    return [before, f(module, x)]
