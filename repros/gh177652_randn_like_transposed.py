"""
randn_like of a transposed tensor draws other numbers than plain code, although fallback_random is on.

Why: the numbers are drawn for the contiguous layout of the shape instead of the input's own, and land elsewhere.
What to do: upgrade; right in 2.13.0. On an affected release draw before the compiled function and hand the numbers
in.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/randn_like",
    devices=("cpu",),
    ops=("randn_like",),
    config={"torch._inductor.config.fallback_random": True},
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/177652",),
    related=("gh181136",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(4, 5, device=device).t(),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.randn_like(x)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(4)
    return f(x)
