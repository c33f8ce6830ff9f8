"""
addmm broadcasts its product up to the input, which plain code refuses, once compiled.

Why: the decomposition for small shapes adds input and product with ordinary broadcasting; the kernel lets only the
input be expanded.
What to do: upgrade; refuses in 2.15.0. On an affected release write input + a @ b where broadcasting both ways is
meant; both forms agree then.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/addmm",
    devices=("cpu",),
    ops=("addmm",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/195579",),
    related=("gh196596",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(5, 1, device=device), torch.ones(1, 2, device=device), torch.ones(2, 1, device=device)


def program(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.addmm(bias, a, b)
