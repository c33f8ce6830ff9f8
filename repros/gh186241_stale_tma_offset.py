"""
With tensor descriptors on, a loop that reduces rows and columns together reads one tile again and again.

Why: the kernel of a mix-order reduction advances its vector of row indices and not the scalar offset by which TMA
descriptors address memory. Every round loads and stores the first tile; the rows of all others are never written.
What to do: torch._inductor.config.triton.use_tensor_descriptor=False, or torch 2.14.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/tensor_descriptor",
    devices=("cuda",),
    ops=("sum",),
    affected=(Affected(first_seen="2.13.0", fixed="2.14.1"),),
    config={
        "torch._inductor.config.triton.use_tensor_descriptor": True,
        "torch._inductor.config.assume_aligned_inputs": True,
        "torch._inductor.config.triton.mix_order_reduction_non_strict_mode": True,
        "torch._inductor.config.triton.mix_order_reduction_split_size": 16,
        "torch._inductor.config.split_reductions": False,
    },
    workaround_config={"torch._inductor.config.triton.use_tensor_descriptor": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/186241",
        "https://github.com/pytorch/pytorch/pull/192344",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return ((torch.arange(96 * 64, device=device) % 11 - 5.0).reshape(96, 64),)


def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    y = x * 3.0
    return y.sum(1), y.sum(0), y / (2 + y.abs().sum(1, keepdim=True))
