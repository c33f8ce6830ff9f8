"""``torch.sinh`` and ``Tensor.sinh_``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Sample, in_place_strategies, island

Tensor = torch.Tensor


def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return the hyperbolic sine of each element.

    Args:
        input: any shape; floats and complex keep their dtype, bool and integers give the default dtype.
        out: where to put the result; resized to its shape.

    Raises:
        RuntimeError: the result cannot be cast to the dtype of `out`, or `out` requires grad.

    Upstream: compiled for the CPU, it is infinite for float32 and bfloat16 beyond ±88.7 where plain it is finite,
    https://github.com/pytorch/pytorch/issues/183763. It can go with 2.14.1.

    """
    raise NotImplementedError


def sinh_(self: Tensor) -> Tensor:
    """
    Replace each element of `self` by its hyperbolic sine; return `self`.

    Args:
        self: floats or complex, any shape; no two elements share memory.

    Raises:
        RuntimeError: `self` is bool or integer, or a leaf that requires grad.

    Upstream: as for `sinh`, https://github.com/pytorch/pytorch/issues/183763. It can go with 2.14.1.

    """
    raise NotImplementedError


def in_float64(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Compute in float64 and cast back; other dtypes and devices are upstream's."""
    if input.dtype in (torch.float16, torch.float64) or input.is_complex() or input.device.type != "cpu":
        return torch.sinh(input) if out is None else torch.sinh(input, out=out)
    dtype = input.dtype if input.is_floating_point() else torch.get_default_dtype()
    result = torch.sinh(input.double()).to(dtype)
    return result if out is None else torch.mul(result, 1, out=out)


def _values() -> Tensor:
    return torch.tensor([0.5, 89.1, -88.9, 88.95, 3.0, -89.2])


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {}


SAMPLE = Sample(arguments=_arguments, base=_values, patterns=("result", "gradient"))
FUNCTIONAL = DropIn(
    name="sinh",
    upstream=torch.sinh,
    documented=sinh,
    strategies={"float64": in_float64, "disable": island(torch.sinh)},
    records=("gh183763",),
    sample=SAMPLE,
)
IN_PLACE = DropIn(
    name="sinh_",
    upstream=torch.Tensor.sinh_,
    documented=sinh_,
    strategies=in_place_strategies(FUNCTIONAL.strategies, torch.Tensor.sinh_, saved=True),
    records=("gh183763",),
    sample=Sample(arguments=_arguments, base=_values, patterns=("on_input", "on_clone")),
)
DROP_INS = (FUNCTIONAL, IN_PLACE)
