"""
A negative float turned into uint8 becomes 0 where plain code wraps around.

Why: C++ leaves this conversion undefined. The plain kernel goes through a wider integer and wraps, the generated
vector code saturated. Upstream calls the input invalid.
What to do: convert in two steps on every release: x.to(torch.int32).to(torch.uint8).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="codegen/to_dtype",
    devices=("cpu",),
    ops=("Tensor.byte", "Tensor.to"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/131910",
        "https://github.com/pytorch/pytorch/issues/156788",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.linspace(-40.0, 40.0, 64, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.uint8)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.int32).to(torch.uint8)
