"""
gather has a backward pass for any index that its forward pass takes.

Why: the gradient is added up at the places that the index names, whatever its size; rows outside of it get zero.
What to do: nothing. scatter is the one that is particular about shapes.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="gather has a backward pass for every index shape that its forward pass takes.",
    truth=Truth.HOLDS,
    ops=("gather",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.gather.html",),
    related=("contract-scatter-backward-any-src",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
    return x, torch.tensor([[1, 1, 0, 1]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, 1, index)


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor, index: torch.Tensor) -> torch.Tensor | None:
    f(x, index).sum().backward()
    return x.grad


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[0, 1], x[0, 1], x[0, 0], x[0, 1]])[None]
