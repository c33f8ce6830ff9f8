"""
An explicit cast to bfloat16 and back is lost on CUDA although eager's casts are to be emulated.

Why: with that setting the conversions a program asks for were lowered with the wider type of the computation, so that
both cancel and nothing is rounded. Without the setting, Inductor drops such pairs on purpose.
What to do: torch 2.13 with torch._inductor.config.emulate_precision_casts=True; before it, round outside the compiled
function.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
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
