"""``torch.div`` and ``Tensor.div_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.checks import nonzero, require
from compilefix.ops.drop_in import DropIn, Op, Sample, island

Tensor = torch.Tensor
Number = bool | int | float


def div(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """
    Return `input` divided by `other`, element by element, of the shape to which they broadcast.

    ``div_`` does the same in place and returns its first argument.

    Args:
        input: any shape and dtype.
        other: tensor or number.
        rounding_mode: None divides truly, integers give floats; ``"trunc"`` rounds towards zero, ``"floor"`` down.
            Rounded quotients have a gradient of zero.

    Raises:
        RuntimeError: shapes do not broadcast, an integer is divided by zero with a `rounding_mode` (on the CPU), or
            `rounding_mode` is another word.

    Upstream: with ``"floor"`` compiled code rounds the quotient of floats before it takes the floor, so 1.0 and 0.1
    give 10, not 9, https://github.com/pytorch/pytorch/issues/197895; integers divided by zero end the process on 2.9.1,
    https://github.com/pytorch/pytorch/issues/143649. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def floored(input: Tensor, other: Tensor | Number, quotient: Tensor) -> Tensor:
    """
    Return the floor of ``input / other`` as plain torch derives it from the remainder; floats of any shape.

    `quotient` is upstream's: it gives the dtype and takes the gradient, which is zero or none.
    """
    dtype = quotient.dtype
    compute = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    a = input.detach().to(compute)
    if isinstance(other, Tensor):
        b = other.detach().to(compute)
    else:
        b = torch.full((), other, dtype=compute, device=input.device)
    exact, rest = a / b, torch.fmod(a, b)
    down = (rest != 0) & ((b < 0) != (rest < 0))
    whole = torch.where(exact.isinf() & ~a.isinf(), a, a - rest) / b
    whole = torch.where(down, whole - 1, whole)
    floor = torch.floor(whole)
    floor = torch.where(whole - floor > 0.5, floor + 1, floor)
    floor = torch.where(whole == 0, torch.copysign(torch.zeros_like(exact), exact), floor)
    found = torch.where(b == 0, exact, floor).to(dtype)
    return torch.where(torch.ones_like(found, dtype=torch.bool), found, quotient)


def _whole(value: Tensor | Number) -> bool:
    if isinstance(value, Tensor):
        return not (value.is_floating_point() or value.is_complex())
    return not isinstance(value, (float, complex))


def divisor(input: Tensor, other: Tensor | Number) -> Tensor | Number:
    """Return `other`; on the CPU raise ``RuntimeError`` where an integer is divided by zero."""
    if not _whole(input) or not _whole(other) or input.device.type != "cpu":
        return other
    if isinstance(other, Tensor):
        checked: Tensor = nonzero(other)
        return checked
    require(other != 0, RuntimeError, lambda: "ZeroDivisionError")
    return other


def _remainder(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return torch.div(input, other)
    quotient = torch.div(input, divisor(input, other), rounding_mode=rounding_mode)
    if rounding_mode == "floor" and quotient.is_floating_point():
        return floored(input, other, quotient)
    return quotient


def twin(functional: Op, upstream: Op) -> Op:
    """Return the in-place form of a quotient: as upstream, it does not put floats into integers."""

    def in_place(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        found: Tensor = functional(self.clone(), *args, **kwargs)  # backward needs the values that were there before
        if (_whole(self) and not _whole(found)) or found.shape != self.shape:
            return upstream(self, *args, **kwargs)  # type: ignore[no-any-return]
        return self.copy_(found)

    return in_place


def _tenths() -> Tensor:
    return torch.arange(1.0, 37.0).reshape(6, 6) / 10


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (0.1,), {"rounding_mode": "floor"}


SAMPLE = Sample(base=_tenths, arguments=_arguments)
DROP_INS = (
    DropIn(
        name="div",
        upstream=torch.div,
        documented=div,
        strategies={"remainder": _remainder, "disable": island(torch.div)},
        records=("gh143649", "gh197895"),
        sample=SAMPLE,
    ),
    DropIn(
        name="div_",
        upstream=torch.Tensor.div_,
        documented=div,
        strategies={"remainder": twin(_remainder, torch.Tensor.div_), "disable": island(torch.Tensor.div_)},
        records=("gh143649", "gh197895"),
        sample=SAMPLE,
    ),
)
