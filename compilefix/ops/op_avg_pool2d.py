"""``torch.nn.functional.avg_pool2d``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Op, Sample, island
from compilefix.ops.pooling import Sizes, axes, ceil_average

Tensor = torch.Tensor
upstream: Op = torch.nn.functional.avg_pool2d


def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """
    Return the average of `input` over windows of rows and columns.

    Args:
        input: ``(batch, channels, rows, columns)`` or ``(channels, rows, columns)``; floats or int64.
        kernel_size: size of the windows.
        stride: distance of the windows; None is `kernel_size`.
        padding: zeros on either side, at most half of `kernel_size`.
        ceil_mode: let a last window overhang; it counts only what lies inside the padded input.
        count_include_pad: whether padding counts in the divisor.
        divisor_override: divisor to use instead.

    Raises:
        RuntimeError: sizes do not fit each other or `input`.

    Upstream: the compiled gradient with `ceil_mode` divides an overhanging window by its full size,
    https://github.com/pytorch/pytorch/issues/198119. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def fitting_windows(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """With `ceil_mode`, pad until the windows fit, sum, and divide by what each one counts."""
    if ceil_mode and divisor_override is None and input.ndim in (3, 4) and input.is_floating_point():
        found = axes(input.shape[-2:], kernel_size, stride, padding)
        if found and input.shape[-3] != 0:
            rows, columns = found
            return ceil_average(input, rows, columns, count_include_pad)
    return upstream(  # type: ignore[no-any-return]
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _image() -> Tensor:
    return torch.arange(35.0).reshape(1, 1, 7, 5)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (4,), {"stride": 3, "ceil_mode": True}


DROP_INS = (
    DropIn(
        name="avg_pool2d",
        upstream=upstream,
        documented=avg_pool2d,
        strategies={"fitting-windows": fitting_windows, "disable": island(upstream)},
        records=("gh198119",),
        sample=Sample(arguments=_arguments, base=_image, patterns=("result", "gradient")),
    ),
)
