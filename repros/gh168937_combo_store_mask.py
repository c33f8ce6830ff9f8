"""
Combined kernels write a scalar result from every lane, most of which hold a zero.

Why: a sub-kernel with one output stores it without the mask of its size. All lanes of the block write to the one
place, and the value of a lane that reduced nothing can come last. Reported on ROCm, it shows on CUDA as well.
What to do: torch._inductor.config.combo_kernels=False, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/combo_kernels",
    devices=("cuda",),
    ops=("sum",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    compile={"dynamic": True},
    config={
        "torch._inductor.config.combo_kernels": True,
        "torch._inductor.config.combo_kernels_autotune": 0,
        "torch._inductor.config.triton.persistent_reductions": False,
    },
    workaround_config={"torch._inductor.config.combo_kernels": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/168937",
        "https://github.com/pytorch/pytorch/pull/168939",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(1.0, 16.0, device=device).reshape(3, 5), torch.arange(18.0, device=device).reshape(3, 6)


def program(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return a.sum(), b.sum(1)
