"""
gather and scatter take int32 indices from 2.8 on; it used to be int64 only

Why: the check of the index dtype was relaxed; the kernels cast int32 to int64, so memory is saved in compiled code
only.
What to do: pass int32 where the oldest torch that you support is 2.8, and index.long() elsewhere. int16 and uint8 are
still refused.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="The index of gather and scatter must be int64.",
    truth=Truth.DOES_NOT_HOLD,
    since="2.8",
    ops=(
        "gather",
        "scatter",
    ),
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
