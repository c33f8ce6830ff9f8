"""
An exhausted reversed() iterator does not raise StopIteration in compiled code.

Why: Dynamo modelled the result of reversed() as a tuple, which keeps no position: using it up changed nothing, and
next() still found an item.
What to do: upgrade; right in 2.13.0. On an affected release count the items instead of waiting for StopIteration.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="iterators/reversed",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/152262",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(3, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    weights = reversed([0.5, 4.0])
    x = x * sum(list(weights))
    try:
        return x * next(weights)
    except StopIteration:
        return x - 1.0
