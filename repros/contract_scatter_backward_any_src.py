"""
scatter's backward pass needs a src of the index's shape.

Why: the gradient of src is gathered with the index, so it has the index's shape and does not fit a larger src. The
error is RuntimeError; compiled code has BackendCompilerFailed, and it comes when the call is compiled.
What to do: cut src to the index: src[: index.shape[0], : index.shape[1]].
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="scatter has a backward pass for every src that its forward pass takes.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("scatter",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    src = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
    return torch.zeros(2, 3, device=device), torch.tensor([[0, 2]], device=device), src


def program(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 1, index, src)


def claim(x: torch.Tensor, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return torch.scatter(x, 1, index, src[:1, :2])
