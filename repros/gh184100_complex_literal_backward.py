"""
The backward pass of a complex tensor times a complex literal does not compile.

Why: the backward graph takes the conjugate of the literal, a plain Python number. Inductor has no lowering for it, and
the kernel it falls back to is made as if its argument were a tensor.
What to do: upgrade; right in 2.13.0. On an affected release hold the literal in a tensor made outside.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="lowerings/_conj",
    devices=("cpu", "cuda"),
    ops=("mul",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/184100",),
    matches=(r"'complex' object has no attribute 'get_name'",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1 + 1j, 2 - 3j], dtype=torch.complex64, device=device, requires_grad=True),)


def program(z: torch.Tensor) -> torch.Tensor:
    return ((1.5 - 0.5j) * z).abs().sum()
