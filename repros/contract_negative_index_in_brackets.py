"""
In brackets and in take a negative index tensor counts from the end.

Why: advanced indexing wraps an index between -size and -1, and so does take, plainly and compiled.
What to do: nothing here; gather, scatter, index_select, index_add and index_copy do not wrap.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="A negative index in brackets counts from the end.",
    truth=Truth.HOLDS,
    ops=("Tensor.__getitem__", "Tensor.__setitem__", "take"),
    references=("https://docs.pytorch.org/docs/stable/tensors.html",),
    related=("contract-negative-index-in-gather", "contract-negative-index-in-index-select", "gh185885", "gh197554"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(8.0, device=device).reshape(4, 2), torch.tensor([-1, 0, -3], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    picked = x[index]
    x[index] = -1.0
    return picked, torch.take(x, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    picked = torch.tensor([[6.0, 7.0], [0.0, 1.0], [2.0, 3.0]], device=x.device)
    x.copy_(torch.tensor([[-1.0, -1.0], [-1.0, -1.0], [4.0, 5.0], [-1.0, -1.0]], device=x.device))
    return picked, torch.tensor([-1.0, -1.0, 5.0], device=x.device)
