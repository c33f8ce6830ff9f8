"""``torch.index_select``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.checks import in_range, size_along
from compilefix.ops.drop_in import DropIn, Sample, island

Tensor = torch.Tensor


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """
    Return the slices of `input` that `index` names along `dim`.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 or int32, a vector or 0-dim.

    Raises:
        IndexError: an index is negative or too large (on the CPU), `index` has two dimensions or more, or `dim` is out
            of range.
        RuntimeError: `index` has another dtype.

    Upstream: compiled code takes a negative index from the end,
    https://github.com/pytorch/pytorch/issues/197554, and one that is too large ends the process once the kernel runs on
    several threads, https://github.com/pytorch/pytorch/issues/126691. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _checked(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    if index.dtype in (torch.int32, torch.int64):
        index = in_range(index, size_along(input, dim), dim, 1, "IndexError", "index out of range in self")
    if out is not None:
        return torch.index_select(input, dim, index, out=out)
    return torch.index_select(input, dim, index)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([5, 0, 0, 3, 1, 2], device=src.device)), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([5, 0, 0, 3, 1, -2], device=src.device)), {}


DROP_INS = (
    DropIn(
        name="index_select",
        upstream=torch.index_select,
        documented=index_select,
        strategies={"checked": _checked, "disable": island(torch.index_select)},
        records=("gh126691", "gh197554"),
        sample=Sample(arguments=_arguments, edge=_edge),
        notes={"checked": "reads all of the index once more"},
    ),
)
