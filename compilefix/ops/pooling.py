"""Average pooling whose last windows overhang, as padding, a pool without overhang, and a division."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import avg_pool2d, pad

Tensor = torch.Tensor
Sizes = int | tuple[int, ...] | list[int]


def sizes(value: Sizes, count: int) -> tuple[int, ...] | None:
    """Return one number for each of `count` dimensions, or None where `value` has another number of them."""
    if not isinstance(value, (tuple, list)):
        return (value,) * count
    if len(value) == 1:
        return tuple(value) * count
    return tuple(value) if len(value) == count else None


def axes(shape: torch.Size, kernel_size: Sizes, stride: Sizes | None, padding: Sizes) -> tuple[Axis, ...] | None:
    """Return the windows along each dimension of `shape`; None where the sizes do not fit it, or upstream refuses."""
    given = (kernel_size, kernel_size if stride is None or stride == () else stride, padding)
    kernel, step, rim = (sizes(value, len(shape)) for value in given)
    if not (kernel and step and rim):
        return None
    found = tuple(Axis(*numbers) for numbers in zip(shape, kernel, step, rim, strict=True))
    return found if all(axis.valid for axis in found) else None


@dataclass(frozen=True, slots=True)
class Axis:
    """Windows along one dimension: its size, and the windows' size, stride and padding."""

    size: int
    kernel: int
    stride: int
    padding: int

    @property
    def valid(self) -> bool:
        """Whether upstream accepts these numbers."""
        if self.kernel < 1 or self.stride < 1 or not 0 <= self.padding <= self.kernel // 2:
            return False
        return self.size > 0 and self.count > 0

    @property
    def count(self) -> int:
        """Number of windows with ``ceil_mode=True``: none begins in the padding behind."""
        count = -((self.kernel - self.size - 2 * self.padding) // self.stride) + 1
        return count - 1 if (count - 1) * self.stride >= self.size + self.padding else count

    @property
    def behind(self) -> int:
        """How much padding behind makes the windows fit; negative where they leave a rest."""
        return (self.count - 1) * self.stride + self.kernel - self.size - self.padding

    def elements(self, count_include_pad: bool, device: torch.device) -> Tensor:
        """Return how many elements each window counts: int64, 1-D."""
        first = torch.arange(self.count, device=device) * self.stride - self.padding
        last = (first + self.kernel).clamp(max=self.size + self.padding)
        if not count_include_pad:
            first, last = first.clamp(min=0), last.clamp(max=self.size)
        return last - first


def ceil_average(input: Tensor, rows: Axis, columns: Axis, count_include_pad: bool) -> Tensor:
    """
    Average `input`, floats of shape ``(…, rows, columns)``, over windows that may overhang.

    Half precision is summed in float32, as plain torch does.
    """
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    padded = pad(wide, (columns.padding, columns.behind, rows.padding, rows.behind))
    kernel, stride = (rows.kernel, columns.kernel), (rows.stride, columns.stride)
    sums = avg_pool2d(padded, kernel, stride, divisor_override=1)
    height = rows.elements(count_include_pad, input.device)
    width = columns.elements(count_include_pad, input.device)
    return (sums / (height[:, None] * width)).to(input.dtype)
