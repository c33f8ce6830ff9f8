"""
gather's index may be larger than its input along dim only.

Why: in the other dimensions index names the same row as the output, and there is none beyond the input's size:
RuntimeError, in compiled code TorchRuntimeError.
What to do: expand the input first, or index in brackets, which broadcasts.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="gather's index may be larger than its input in the other dimensions.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("gather",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.gather.html",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(4.0, device=device).reshape(2, 2), torch.tensor([[1], [0], [1]], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, 1, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[1.0], [2.0], [1.0]], device=x.device)
