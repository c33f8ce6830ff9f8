"""
Adaptive average pooling, flattened and summed, is wrong on CUDA for every sample but the first.

Why: two lowerings lay out the pooled buffer differently. One pads the distance between samples for alignment, the
other, which feeds an output, may not; the kernel that writes and the kernel that reads use one each, and the reads run
past the end.
What to do: torch._inductor.config.comprehensive_padding=False, or torch 2.13.
"""

import torch
import torch.nn.functional as F

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cuda",),
    ops=("nn.functional.adaptive_avg_pool2d", "flatten", "sum"),
    affected=(Affected(first_seen="2.11.0", last_seen="2.11.0", fixed="2.13.0"),),
    workaround_config={"torch._inductor.config.comprehensive_padding": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/179931",
        "https://github.com/pytorch/pytorch/issues/180848",
        "https://github.com/pytorch/pytorch/issues/180956",
        "https://github.com/pytorch/pytorch/pull/180197",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return ((torch.arange(2 * 5 * 256, device=device) % 23 / 4.0).reshape(2, 5, 16, 16),)


def program(x: torch.Tensor) -> torch.Tensor:
    return F.adaptive_avg_pool2d(x, 15).flatten(1).sum(1)
