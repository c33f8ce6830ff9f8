"""
A reduction of a scan over 8193 or more elements does not compile for CUDA.

Why: a scan that is split over blocks is fused with the reduction that follows, and the generator of split scans has no
code for reductions. Reported for the backward pass of cumprod, which takes an argmax of a cumsum.
What to do: torch._inductor.config.max_fusion_size=1 for that function, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    devices=("cuda",),
    ops=("cumsum", "cumprod", "argmax"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    workaround_config={"torch._inductor.config.max_fusion_size": 1},
    matches=(r"NYI TritonSplitDimKernel reductions",),
    references=(
        "https://github.com/pytorch/pytorch/issues/183250",
        "https://github.com/pytorch/pytorch/pull/183653",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return ((torch.arange(2 * 8193, device=device) % 5 == 3).reshape(2, 8193),)


def program(hit: torch.Tensor) -> torch.Tensor:
    return hit.cumsum(1).argmax(1)
