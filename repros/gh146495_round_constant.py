"""
round(value, 2) of a Python number keeps one digit less than asked for.

Why: Dynamo folded the call with its arguments in the wrong place.
What to do: upgrade; right in 2.8.0.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="variables/builtin_round",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.8.0"),),
    references=("https://github.com/pytorch/pytorch/pull/146495",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x * round(2.567, 2)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x * (int(2.567 * 100.0 + 0.5) / 100.0)
