"""
Combining a reduction over one axis with one over two axes makes a kernel that names a block size it does not have.

Why: the sub-kernel of the tiled reduction derives its block from R0_BLOCK with a suffix that no one defines.
What to do: torch._inductor.config.combo_kernels=False, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="codegen/combo_kernels",
    devices=("cuda",),
    ops=("var_mean",),
    affected=(Affected(first_seen="2.9.1", last_seen="2.9.1", fixed="2.13.0"),),
    config={
        "torch._inductor.config.combo_kernels": True,
        "torch._inductor.config.triton.prefer_nd_tiling": True,
        "torch._inductor.config.triton.tile_reductions": True,
    },
    workaround_config={"torch._inductor.config.combo_kernels": False},
    matches=(r"R0_BLOCK_0_0",),
    references=("https://github.com/pytorch/pytorch/issues/168945",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return ((torch.arange(60.0, device=device) % 7).reshape(1, 3, 4, 5),)


def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return *torch.var_mean(x, -1), *torch.var_mean(x, (1, 3))
