"""
scatter's index may be smaller than its input.

Why: each dimension of index other than dim must be at most as large as that of the input, each of index at most as
large as that of src. What lies outside is left as it is.
What to do: nothing. For a backward pass through src the two must have one shape.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="Except along dim, the index of scatter must have the size of its input.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",),
    related=("contract-scatter-backward-any-src", "contract-gather-index-larger"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(3, 3, device=device), torch.tensor([[2], [0]], device=device), torch.ones(2, 2, device=device)


def program(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 1, index, src)


def claim(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("index has another size than self")
