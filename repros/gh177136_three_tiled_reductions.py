"""
With three tiles and tiled reductions, a sum over three axes of a slice returns a part of the sum.

Why: two axes at most are reduced inside a kernel, the tiling hands out three, and the third becomes an axis of the
grid. Each of its programs writes its own part to the one place of the result, and the last one stays.
What to do: torch._inductor.config.triton.max_tiles=2, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cuda",),
    ops=("sum",),
    affected=(Affected(first_seen="2.8.0", last_seen="2.11.0", fixed="2.13.0"),),
    config={
        "torch._inductor.config.triton.prefer_nd_tiling": True,
        "torch._inductor.config.triton.tile_reductions": True,
        "torch._inductor.config.triton.max_tiles": 3,
    },
    workaround_config={"torch._inductor.config.triton.max_tiles": 2},
    references=("https://github.com/pytorch/pytorch/pull/177136",),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.arange(216.0, device=device).reshape(6, 6, 6)[:4, :4, :4],)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.sum()
