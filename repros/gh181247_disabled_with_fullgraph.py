"""
Switching the compiler off makes fullgraph=True raise instead of running plainly.

Why: since 2.12 a call with fullgraph=True that runs no compiled code is an error, and a compiler that is switched off
runs none. Before, and as documented, the function just ran.
What to do: leave fullgraph=True out where the compiler may be switched off, or do not wrap the function there.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="eval_frame/fullgraph_without_frames",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.13.0"),),
    compile={"fullgraph": True},
    config={"torch._dynamo.config.disable": True},
    matches=(r"fullgraph=True found no compiled frames",),
    references=(
        "https://github.com/pytorch/pytorch/issues/181247",
        "https://github.com/pytorch/pytorch/pull/177809",
        "https://github.com/pytorch/pytorch/pull/181940",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x + 1.0
