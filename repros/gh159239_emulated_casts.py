"""
emulate_precision_casts makes compilation for a CPU fail.

Why: with the setting on, the shared part of the code generator passes use_compute_types to a method of the vectorised
C++ generator that has no such argument.
What to do: upgrade; right in 2.11.0. On an affected release leave the setting off for a CPU.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="codegen/CppVecOverrides.to_dtype",
    devices=("cpu",),
    affected=(Affected(first_seen="2.8.0", last_seen="2.9.1", fixed="2.11.0"),),
    config={"torch._inductor.config.emulate_precision_casts": True},
    workaround_config={"torch._inductor.config.emulate_precision_casts": False},
    matches=(r"unexpected keyword argument 'use_compute_types'",),
    references=("https://github.com/pytorch/pytorch/issues/159239",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.linspace(-1.0, 1.0, 64, device=device).to(torch.bfloat16),
        torch.linspace(2.0, 3.0, 64, device=device).to(torch.bfloat16),
    )


def program(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return left * right + left
