"""
An int64 arange times a large number wraps at 32 bits.

Why: the elements of an arange are an expression of the loop index, which is computed in 32 bits in a small kernel
whatever type was asked for; the product is widened afterwards. On the C++ path measured too: wrong in 2.13.0, right
in 2.6.0.
What to do: multiply in float64 where the products stay below 2**53, and convert the result.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cuda",),
    ops=("arange", "mul"),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/183901",
        "https://github.com/pytorch/pytorch/issues/175966",
        "https://github.com/pytorch/pytorch/pull/184492",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.tensor(5, device=device),)


def program(start: torch.Tensor) -> torch.Tensor:
    return torch.arange(4, device=start.device) * 1_200_000_000 + start


def workaround(start: torch.Tensor) -> torch.Tensor:
    steps = torch.arange(4, device=start.device, dtype=torch.float64) * 1.2e9
    return steps.to(torch.int64) + start
