"""``torch.floor_divide`` and ``Tensor.floor_divide_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, island
from compilefix.ops.op_div import divisor, floored, twin

Tensor = torch.Tensor
Number = bool | int | float


def floor_divide(input: Tensor, other: Tensor | Number) -> Tensor:
    """
    Return the floor of ``input / other``, element by element, of the shape to which they broadcast.

    It is what ``//`` does on tensors, and has no derivative. ``floor_divide_`` does the same in place and returns its
    first argument.

    Args:
        input: any shape, real dtype.
        other: tensor or number, real.

    Raises:
        RuntimeError: shapes do not broadcast, or an integer is divided by zero (on the CPU).

    Upstream: compiled code rounds the quotient of floats before it takes the floor, so 1.0 and 0.1 give 10, not 9,
    https://github.com/pytorch/pytorch/issues/197895; integers divided by zero end the process on 2.9.1,
    https://github.com/pytorch/pytorch/issues/143649. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _remainder(input: Tensor, other: Tensor | Number) -> Tensor:
    checked = divisor(input, other)
    quotient = torch.floor_divide(input, checked)
    return floored(input, other, quotient) if quotient.is_floating_point() else quotient


def _tenths() -> Tensor:
    return torch.arange(1.0, 37.0).reshape(6, 6) / 10


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (0.1,), {}


SAMPLE = Sample(base=_tenths, arguments=_arguments)
DROP_INS = (
    DropIn(
        name="floor_divide",
        upstream=torch.floor_divide,
        documented=floor_divide,
        strategies={"remainder": _remainder, "disable": island(torch.floor_divide)},
        records=("gh143649", "gh197895"),
        sample=SAMPLE,
        also=(torch.Tensor.__floordiv__,),
    ),
    DropIn(
        name="floor_divide_",
        upstream=torch.Tensor.floor_divide_,
        documented=floor_divide,
        strategies={
            "remainder": twin(_remainder, torch.Tensor.floor_divide_),
            "disable": island(torch.Tensor.floor_divide_),
        },
        records=("gh143649", "gh197895"),
        sample=SAMPLE,
    ),
)
