"""
Sums over columns that are concatenated are never written when rows are summed in the same kernel.

Why: a mix-order reduction finishes the column sums by binding a fresh tensor to the name of the output. Where that
output is a view into the buffer of the concatenation, the view stays as it was allocated. Reported as wrong gradients
of a scale and shift table that is split with chunk, whose backward pass is such a concatenation.
What to do: torch._inductor.config.triton.mix_order_reduction=False, or torch 2.15.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cuda",),
    ops=("sum", "cat", "chunk"),
    affected=(Affected(introduced="2.10.0", last_seen="2.14.1", fixed="2.15.0"),),
    config={
        "torch._inductor.config.triton.mix_order_reduction_non_strict_mode": True,
        "torch._inductor.config.split_reductions": False,
        "torch._inductor.config.max_pointwise_cat_inputs": 1,
    },
    workaround_config={"torch._inductor.config.triton.mix_order_reduction": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/193061",
        "https://github.com/pytorch/pytorch/pull/193103",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return ((torch.arange(64 * 16, device=device) % 13 - 4.0).reshape(64, 16),)


def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.sum(1), torch.cat([(x * 2).sum(0), (x * 5).sum(0)])
