"""
matmul of half and float tensors is refused plainly and computed when compiled.

Why: the batched product is decomposed into pointwise products, which promote types, and nobody checks that both have
one.
What to do: convert one operand explicitly.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="inductor",
    culprit="decomposition/bmm",
    devices=("cpu",),
    ops=("matmul", "bmm"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/177630",),
    related=("gh141865",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(2, 3, 4, dtype=torch.float16, device=device), torch.ones(2, 4, 5, device=device)


def program(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.matmul(a, b)
