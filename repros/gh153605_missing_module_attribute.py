"""
Catching the AttributeError of a missing module attribute fails in compiled code.

Why: Dynamo reads the attribute while it traces, and the AttributeError ends the tracing instead of reaching the except
branch of the program.
What to do: upgrade; right in 2.9.1. On an affected release call getattr with a default, or hasattr.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="variables/python_module",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    matches=(r"module 'torch\.nn\.functional' has no attribute",),
    references=("https://github.com/pytorch/pytorch/issues/153605",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([-1.0, 0.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    try:
        activation = torch.nn.functional.an_activation_of_tomorrow
    except AttributeError:
        activation = torch.nn.functional.relu
    return activation(x)


def workaround(x: torch.Tensor) -> torch.Tensor:
    activation = getattr(torch.nn.functional, "an_activation_of_tomorrow", None)
    return x.relu() if activation is None else activation(x)
