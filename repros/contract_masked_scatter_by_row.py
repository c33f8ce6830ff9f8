"""
masked_scatter takes one element of source for every True of the broadcast mask.

Why: the mask is broadcast to the tensor first, then the True places are filled in order.
What to do: for one value a row torch.where(mask, values[:, None], x).
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="masked_scatter takes one element of source for each row of the mask.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("masked_scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    mask = torch.tensor([[True], [False], [True]], device=device)
    return torch.zeros(3, 2, device=device), mask, torch.tensor([7.0, 8.0, 9.0, 10.0], device=device)


def program(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.masked_scatter(x, mask, source)


def claim(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[7.0, 7.0], [0.0, 0.0], [8.0, 8.0]], device=x.device)
