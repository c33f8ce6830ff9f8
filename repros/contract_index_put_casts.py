"""
x

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="index_put casts values of another dtype.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("index_put",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.zeros(3, device=device),
        torch.tensor([2, 0], device=device),
        torch.tensor([1.5, 2.5], dtype=torch.float64, device=device),
    )


def program(x: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return torch.index_put(x, (index,), values)


def claim(x: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return torch.tensor([2.5, 0.0, 1.5], device=x.device)
