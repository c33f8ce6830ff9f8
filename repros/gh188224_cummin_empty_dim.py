"""
cummin on an empty tensor with a dimension out of range ends in an internal error of the compiler.

Why: up to 2.13.0 the plain operator returned early for an empty tensor; since then it raises IndexError. Either way the
lowering trips over its own assertion about the dimension.
What to do: pass a valid dimension, or skip the call for empty tensors.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="lowerings/cummin",
    devices=("cpu", "cuda"),
    ops=("cummin",),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/188224",
        "https://github.com/pytorch/pytorch/pull/188361",
    ),
    matches=(r"LoweringException: AssertionError", r"aten\.cummin"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(0, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return (x - 1.0).cummin(7).values


def workaround(x: torch.Tensor) -> torch.Tensor:
    return (x - 1.0).cummin(0).values
