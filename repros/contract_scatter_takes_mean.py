"""
scatter has only the reductions add and multiply

Why: x
What to do: y
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="scatter accepts reduce='mean'.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (
        torch.tensor([8.0, 5.0], device=device),
        torch.tensor([0, 0], device=device),
        torch.tensor([1.0, 3.0], device=device),
    )


def program(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 0, index, src, reduce="mean")


def claim(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.tensor([4.0, 5.0], device=x.device)


def workaround(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter_reduce(x, 0, index, src, reduce="mean")
