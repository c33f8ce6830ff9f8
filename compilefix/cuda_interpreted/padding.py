"""
The padding of matrix products, which Inductor decides by timing both: here it is decided by hand.

Joint-graph passes run before the graph is moved to CUDA. Of them only this one asks whether the tensors lie on a GPU;
it is told that they do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch._inductor.fx_passes import pad_mm


@dataclass
class Padding:
    """What is answered when Inductor asks whether to pad, and what it asked about."""

    pad: bool = False
    asked: list[str] = field(default_factory=list)
    """The products, such as ``bmm 2x4x8 by 2x8x33``, one entry each time."""


PADDING = Padding()


def _one_device(a: Any, b: Any) -> bool:
    return bool(a.device == b.device)


def _decide(match: Any, mat1: Any, mat2: Any, op: Any, input: Any = None) -> bool:
    """Answer for one product that could be padded; there must be something to pad."""
    sizes = (*mat1.shape[-2:], mat2.shape[-1])
    if not any(pad_mm.get_padded_length(n, pad_mm.get_alignment_size(mat1)) for n in sizes):
        return False
    shapes = ["x".join(map(str, m.shape)) for m in (mat1, mat2)]
    PADDING.asked.append(f"{op.__name__} {shapes[0]} by {shapes[1]}")
    return PADDING.pad


def install() -> None:
    """Decide by hand in this process; nothing is padded unless `PADDING` says so."""
    names = vars(pad_mm)
    names |= {"check_device": _one_device, "has_triton": lambda *_, **__: True}
    names |= {name: _decide for name in ("_should_pad", "should_pad_bench") if name in names}  # one each release
