"""
torch.compile refuses an option that a later release removed.

Why: options are checked against Inductor's settings by name. force_same_precision was one until 2.9.1 and is not in
2.13.0, so code that has run for years ends in a RuntimeError.
What to do: pass only what torch._inductor.list_options() names.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="api/removed_option",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.13.0"),),
    compile={"options": {"force_same_precision": True}},
    matches=(r"Unexpected optimization option force_same_precision",),
    references=("https://github.com/Comfy-Org/ComfyUI/issues/11457",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x + 1.0
