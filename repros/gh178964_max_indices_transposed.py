"""
max along a dimension returns index 0 everywhere when one summand is transposed.

Why: one operand is laid out the other way, so the CPU code works in tiles, from 8 columns on. The index that goes with
the largest value is that of the tile without the position inside it. The values are right.
What to do: upgrade, right again in 2.13.0; on an affected release set torch._inductor.config.cpp.simdlen to 1.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/cpp",
    ops=("max",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    workaround_config={"torch._inductor.config.cpp.simdlen": 1},
    references=(
        "https://github.com/pytorch/pytorch/issues/178964",
        "https://github.com/pytorch/pytorch/pull/179525",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(n, n, device=device) for n in (8, 8, 16, 16))


def program(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (a.t() + b).max(dim=1).indices, (c.t() + d).max(dim=1).indices
