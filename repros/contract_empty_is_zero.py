"""
torch.empty holds whatever lay in memory.

Why: nothing is written. Fresh pages of the system are zero, which hides the mistake; in deterministic mode torch
fills them with NaN, and plain and compiled sums are NaN.
What to do: torch.zeros where sums are to start from nothing.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="torch.empty starts at zero, so sums may be added to it.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("empty",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.empty.html",
        "https://docs.pytorch.org/docs/stable/deterministic.html",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 2.0, 3.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    total = torch.empty(3, device=x.device)
    total += x
    return total


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    torch.use_deterministic_algorithms(True)  # fills fresh memory with NaN, so that nobody reads what lay there
    try:
        return f(x)
    finally:
        torch.use_deterministic_algorithms(False)


def claim(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
