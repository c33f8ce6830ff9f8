"""
A CPU tensor of no dimensions mixes with tensors of any device.

Why: it counts as a number. One element with a dimension does not, and a scalar of another device does not come to the
CPU. Tested with the meta device.
What to do: nothing; keep scalars on the CPU, or move everything else.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="Tensors on two devices never mix.",
    truth=Truth.DOES_NOT_HOLD,
    ops=("mul",),
    references=("https://github.com/pytorch/pytorch/issues/119609", "https://github.com/pytorch/pytorch/pull/20690"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(3, device="meta"), torch.tensor(2.0, device=device)


def program(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return x * factor


def claim(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("Expected all tensors to be on the same device")
