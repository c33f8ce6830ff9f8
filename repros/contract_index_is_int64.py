"""
gather and scatter take an int32 index from torch 2.8 on.

Why: up to 2.7 the operators refused every index that is not int64. They take int32 now and cast it; int16 and uint8
are still refused, by compiled code with TorchRuntimeError.
What to do: pass int32 where the oldest torch you support is 2.8, index.long() elsewhere. index_copy, index_fill, take
and take_along_dim still want int64.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="The index of gather and scatter must be int64.",
    truth=Truth.DOES_NOT_HOLD,
    since="2.8",
    ops=("gather", "scatter"),
    references=(
        "https://github.com/pytorch/pytorch/pull/173886",
        "https://github.com/pytorch/pytorch/issues/162711",
        "https://docs.pytorch.org/docs/stable/generated/torch.gather.html",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor(
        [[2, 0], [1, 1]], dtype=torch.int32, device=device
    )


def program(x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.gather(x, 1, index), torch.scatter(x, 1, index, 9.0)


def claim(x: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    raise RuntimeError("Expected dtype int64 for index")
