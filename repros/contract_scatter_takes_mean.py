"""
scatter has the reductions add and multiply only.

Why: its reduce= is older than scatter_reduce and knows two words; for others it raises RuntimeError, compiled code
TorchRuntimeError.
What to do: torch.scatter_reduce(x, dim, index, src, reduce='mean'), and mind include_self.
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
    related=("contract-mean-counts-sources-only",),
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
