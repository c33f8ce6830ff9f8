"""
take_along_dim counts a negative index from the end; up to 2.9.1 only compiled code did.

Why: it was plain gather, which raises RuntimeError, while Inductor's gather wrapped. Since then it wraps itself.
What to do: write indices % x.shape[dim] where releases up to 2.9.1 must work.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="take_along_dim counts a negative index from the end, as NumPy does.",
    truth=Truth.HOLDS,
    differs=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    symptom=Symptom.MISSING_ERROR,
    ops=("take_along_dim",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.take_along_dim.html",
        "https://github.com/pytorch/pytorch/issues/146211",
    ),
    related=("contract-negative-index-in-gather",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([[-1], [-3]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.take_along_dim(x, index, 1)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[2.0], [3.0]], device=x.device)
