"""
A clamp bound that does not fit the integer type wraps around once compiled.

Why: the lowering converts the bound to the tensor's type before it compares, and 300 as int8 is 44. Plain code
refuses such a bound, and from 2.15.0 on leaves the values alone.
What to do: widen first: x.to(torch.int32).clamp(max=300).to(x.dtype).
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="lowerings/clamp",
    devices=("cpu", "cuda"),
    ops=("clamp",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/198071",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([-128, -3, 0, 5, 127], dtype=torch.int8, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.clamp(x, max=300)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.clamp(x.to(torch.int32), max=300).to(x.dtype)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> dict[str, bool]:
    try:
        clamped = f(x)
    except RuntimeError:
        return {"left alone or refused": True}
    return {"left alone or refused": torch.equal(clamped, x)}
