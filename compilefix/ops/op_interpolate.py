"""``torch.nn.functional.interpolate``."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import interpolate as upstream

from compilefix.ops.drop_in import DropIn, Sample, island

Tensor = torch.Tensor


def interpolate(
    input: Tensor,
    size: int | tuple[int, ...] | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """
    Return `input` resampled to `size`, or by `scale_factor`.

    Args:
        input: ``(batch, channels, …)`` with one to three spatial dimensions; floats, or uint8 where torch accepts it.
        size: spatial size of the result; not together with `scale_factor`.
        scale_factor: factor for all spatial dimensions, or one for each.
        mode: ``nearest``, ``nearest-exact``, ``linear``, ``bilinear``, ``bicubic``, ``trilinear`` or ``area``.
        align_corners: for the linear and cubic modes only.
        recompute_scale_factor: sample by the ratio of the sizes instead of by `scale_factor`.
        antialias: for ``bilinear`` and ``bicubic`` only.

    Raises:
        ValueError: neither or both of `size` and `scale_factor`, or an option that `mode` does not have.
        NotImplementedError: `mode` does not exist for this number of dimensions.

    Upstream: on the CPU, plain 2-D ``nearest`` copies a dimension whose size stays and repeats each element of one
    that doubles, whatever the factor; compiled code divides by the factor even then,
    https://github.com/pytorch/pytorch/issues/175154. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def exact_factors(
    input: Tensor,
    size: int | tuple[int, ...] | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Replace the factor of a dimension whose size stays by 1, of one that doubles by 2."""
    special = mode == "nearest" and input.ndim == 4 and input.device.type == "cpu"
    if special and size is None and scale_factor is not None and not recompute_scale_factor:
        factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor, scale_factor)
        if len(factors) == 2:
            scale_factor = tuple(_exact(n, factor) for n, factor in zip(input.shape[2:], factors, strict=True))
    return upstream(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


def _exact(size: int, factor: float) -> float:
    resampled = int(size * factor)
    if resampled == size:
        return 1.0
    return 2.0 if resampled == 2 * size else factor


def _image() -> Tensor:
    return torch.arange(15.0).reshape(1, 1, 3, 5)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {"scale_factor": (1.3, 2.4), "mode": "nearest"}


DROP_INS = (
    DropIn(
        name="interpolate",
        upstream=upstream,
        documented=interpolate,
        strategies={"exact-factors": exact_factors, "disable": island(upstream)},
        records=("gh175154",),
        sample=Sample(arguments=_arguments, base=_image, patterns=("result", "gradient")),
    ),
)
