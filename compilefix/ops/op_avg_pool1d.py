"""``torch.nn.functional.avg_pool1d``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.drop_in import DropIn, Op, Sample, island
from compilefix.ops.pooling import Axis, Sizes, axes, ceil_average

Tensor = torch.Tensor
upstream: Op = torch.nn.functional.avg_pool1d


def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """
    Return the average of `input` over windows of its last dimension.

    Args:
        input: ``(batch, channels, length)`` or ``(channels, length)``; floats or int64.
        kernel_size: size of the windows.
        stride: distance of the windows; None is `kernel_size`.
        padding: zeros on either side, at most half of `kernel_size`.
        ceil_mode: let a last window overhang; it counts only what lies inside the padded input.
        count_include_pad: whether padding counts in the divisor.

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
) -> Tensor:
    """With `ceil_mode`, pad until the windows fit, sum, and divide by what each one counts."""
    if ceil_mode and input.ndim in (2, 3) and input.is_floating_point():
        found = axes(input.shape[-1:], kernel_size, stride, padding)
        if found and input.shape[-2] != 0:
            (columns,) = found
            return ceil_average(input.unsqueeze(-2), Axis(1, 1, 1, 0), columns, count_include_pad).squeeze(-2)
    return upstream(  # type: ignore[no-any-return]
        input, kernel_size, stride, padding, ceil_mode, count_include_pad
    )


def _signal() -> Tensor:
    return torch.arange(5.0).reshape(1, 1, 5)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (4,), {"stride": 3, "ceil_mode": True}


DROP_INS = (
    DropIn(
        name="avg_pool1d",
        upstream=upstream,
        documented=avg_pool1d,
        strategies={"fitting-windows": fitting_windows, "disable": island(upstream)},
        records=("gh198119",),
        sample=Sample(arguments=_arguments, base=_signal, patterns=("result", "gradient")),
    ),
)
