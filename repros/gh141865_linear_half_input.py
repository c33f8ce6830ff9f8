"""
A linear layer with a half-precision input and float32 weights is refused plainly and runs when compiled.

Why: for one row and one column the matrix product is decomposed into pointwise arithmetic, which promotes the types
and so loses the check that the plain kernel makes. The report is closed; a maintainer did not count it as a bug.
What to do: cast the input to the dtype of the weight before the call.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/addmm",
    devices=("cpu",),
    ops=("nn.functional.linear",),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/141865",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.full((1, 1), 0.5, dtype=torch.float16, device=device),
        torch.full((1, 1), 2.0, device=device),
        torch.zeros(1, device=device),
    )


def program(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.linear(x, weight, bias)


def workaround(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    torch._check(x.dtype == weight.dtype, lambda: "the input and the weight must have the same dtype")
    return torch.nn.functional.linear(x, weight, bias)
