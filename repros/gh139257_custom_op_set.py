"""
A custom operator that gives its argument new data with set_ cannot be compiled.

Why: the traced graph still has the target at its old size: the backend eager looks for a dimension that is not there,
and functionalisation, which copies results back into the old storage, cannot express the change at all.
What to do: return the new tensor from the operator, and assign its data outside of the compiled function.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="functionalization/set_in_custom_op",
    devices=("cpu", "cuda"),
    ops=("Tensor.set_", "library.custom_op"),
    affected=(Affected(first_seen="2.4.1"),),
    references=("https://github.com/pytorch/pytorch/issues/139257",),
)


@torch.library.custom_op("compilefix::gh139257_set", mutates_args=("target",))
def set_data(target: torch.Tensor, source: torch.Tensor) -> None:
    target.set_(source.clone())


@set_data.register_fake
def _(target: torch.Tensor, source: torch.Tensor) -> None:
    target.set_(source.clone())


@torch.library.custom_op("compilefix::gh139257_copy", mutates_args=())
def new_data(source: torch.Tensor) -> torch.Tensor:
    return source.clone()


@new_data.register_fake
def _(source: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(source)


def program(target: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    set_data(target, source * 3.0)
    return target / 2.0


def workaround(target: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return new_data(source * 3.0) / 2.0


def drive(f, source: torch.Tensor) -> torch.Tensor:  # type: ignore[no-untyped-def]
    with torch.no_grad():
        return f(torch.empty(0, device=source.device), source)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, 2, device=device),)
