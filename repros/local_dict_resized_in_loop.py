"""
Adding keys to a dict inside a loop over it raises no RuntimeError.

Why: Dynamo loops over a copy of the keys, so the check for a changed size never happens, and the loop ends as if the
program were right.
What to do: upgrade; raises as it should in 2.13.0. In any case loop over list(d).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="eager",
    culprit="variables/dict_iterator",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1", last_seen="2.11.0", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/175855",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    parts = {"a": x}
    for name in parts:
        parts[name + name] = x * 2.0
    return torch.stack(tuple(parts.values()))
