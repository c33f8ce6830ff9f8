"""
Formatting an object that the compiled function made raises AttributeError.

Why: the graph breaks at the formatting, and Dynamo asks an object for its text of which it has stored no attribute yet.
What to do: upgrade; right in 2.14.1. On an affected release make the object outside, or build the text from its
attributes.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="side_effects/text_of_new_object",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1", last_seen="2.13.0", fixed="2.14.1"),),
    matches=(r"'Step' object has no attribute",),
    references=("https://github.com/pytorch/pytorch/issues/173221",),
)


class Step:
    def __init__(self, number: int) -> None:
        self.number = number

    def __str__(self) -> str:
        return f"step {self.number}"


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> tuple[torch.Tensor, str]:
    step = Step(x.shape[0])
    return x * 2.0, f"{step}!"


def workaround(x: torch.Tensor) -> tuple[torch.Tensor, str]:
    step = Step(x.shape[0])
    return x * 2.0, f"step {step.number}!"
