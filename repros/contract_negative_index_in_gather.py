"""
gather raises for a negative index; up to 2.9.1 compiled code wrapped it.

Why: the kernel raises RuntimeError. Inductor lowered gather as advanced indexing, which wraps; since then its kernel
raises RuntimeError as well.
What to do: write index % x.shape[dim], or torch.take_along_dim, which wraps on releases of today.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="gather counts a negative index from the end.",
    truth=Truth.DOES_NOT_HOLD,
    differs=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    symptom=Symptom.MISSING_ERROR,
    ops=("gather",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.gather.html",
        "https://github.com/pytorch/pytorch/pull/184287",
        "https://github.com/pytorch/pytorch/issues/135546",
    ),
    related=("contract-take-along-dim-wraps", "contract-negative-index-in-brackets"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([[-1], [0]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, 1, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[2.0], [3.0]], device=x.device)
