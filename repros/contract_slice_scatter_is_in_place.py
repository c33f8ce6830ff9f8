"""
slice_scatter returns a tensor of its own.

Why: it is the functional form of x[start:end] = part: fresh storage, the input stays as it was.
What to do: use its result, or assign to the slice. Compiled code has defects where the input is written later.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="slice_scatter writes into its input.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("slice_scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.slice_scatter.html",),
    related=("contract-scatter-is-in-place", "gh198094", "gh195451"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(5, device=device), torch.tensor([7.0, 8.0], device=device)


def program(x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    return torch.slice_scatter(x, part, dim=0, start=1, end=3)


def claim(x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    x[1:3] = part
    return x
