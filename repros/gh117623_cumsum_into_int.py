"""
cumsum with an integer out= truncates the sums instead of the summands.

Why: plain code converts the input to the type of out and adds up integers; the decomposed form adds up floats and
converts at the end.
What to do: upgrade; right in 2.13.0. On an affected release convert first: torch.cumsum(x.to(out.dtype), 0).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager",
    culprit="functionalization/cumsum.out",
    devices=("cpu", "cuda"),
    ops=("cumsum",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/117623",),
    related=("gh145220",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.tensor([0.75, 0.5, 1.75], device=device), torch.zeros(3, dtype=torch.int32, device=device)


def program(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    torch.cumsum(x, 0, out=total)
    return total


def workaround(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    total.copy_(torch.cumsum(x.to(total.dtype), 0))
    return total
