"""
Floor division of or by infinity differs: plain code says nan and -1, compiled code inf and -0.

Why: floating floor division is lowered to the floor of a quotient; plain code follows Python, subtracts the remainder
first and corrects by the sign.
What to do: set those entries yourself, or torch 2.14.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cpu", "cuda"),
    ops=("div", "floor_divide"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/188048",
        "https://github.com/pytorch/pytorch/pull/188049",
    ),
    related=("gh197895",),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    inf = float("inf")
    return torch.tensor([inf, -inf, -2.0, 7.0], device=device), torch.tensor([1.0, 3.0, inf, 2.0], device=device)


def program(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.div(a, b, rounding_mode="floor")


def workaround(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    quotient = torch.div(a, b, rounding_mode="floor")
    quotient = torch.where(b.isinf() & (a * b < 0), -1.0, quotient)
    return torch.where(a.isinf(), float("nan"), quotient)
