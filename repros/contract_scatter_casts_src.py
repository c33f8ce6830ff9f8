"""
scatter wants a src of its input's dtype.

Why: it raises RuntimeError for any other, compiled code TorchRuntimeError while it traces.
What to do: convert it yourself, src.to(x.dtype).
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="scatter casts a src of another dtype.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",),
    related=("contract-assignment-casts",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.zeros(3, device=device),
        torch.tensor([2, 0], device=device),
        torch.tensor([1.5, 2.5], dtype=torch.float64, device=device),
    )


def program(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 0, index, src)


def claim(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.tensor([2.5, 0.0, 1.5], device=x.device)
