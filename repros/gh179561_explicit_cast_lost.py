"""
An explicit cast to bfloat16 and back is lost on CUDA although eager's casts are to be emulated.

Why: a pass over the joint graph takes a chain of two conversions for one and removes the rounding in between, also
with that setting (measured on 2.11.0: right without the pass); on 2.9.1 leaving it out is not enough. Without the
setting, Inductor drops such pairs on purpose.
What to do: torch 2.13 with torch._inductor.config.emulate_precision_casts=True; before it, round outside the compiled
function.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="joint_graph_passes/pointless_convert",
    devices=("cuda",),
    ops=("Tensor.to",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    config={"torch._inductor.config.emulate_precision_casts": True},
    references=(
        "https://github.com/pytorch/pytorch/issues/179561",
        "https://github.com/pytorch/pytorch/pull/180575",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor]:
    return (torch.tensor([1.001, -2.7, 0.3, 5.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.bfloat16).float() - x
