"""``torch.gather``."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.ops.checks import in_range, size_along
from compilefix.ops.drop_in import DropIn, Sample, island

Tensor = torch.Tensor


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """
    Return the elements of `input` that `index` names along `dim`, in the shape of `index`.

    Args:
        input: any shape and dtype.
        dim: dimension along which `index` counts; may be negative.
        index: int64 (int32 where torch accepts it), as many dimensions as `input`; at most the size of `input` in
            every dimension but `dim`.
        sparse_grad: give the gradient of `input` as a sparse tensor.
        out: where to put the result; of the dtype of `input`.

    Raises:
        RuntimeError: shapes or dtypes do not fit, or an index is negative or too large.
        IndexError: `dim` is out of range.

    Upstream: in compiled code an index out of range ends the process once the kernel runs on several threads,
    https://github.com/pytorch/pytorch/issues/126691, and a negative one is taken from the end on 2.6.0 and 2.9.1,
    https://github.com/pytorch/pytorch/issues/197554. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _checked(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    if index.dtype in (torch.int32, torch.int64):
        message = "index {index} is out of bounds for dimension {dim} with size {size}"
        index = in_range(index, size_along(input, dim), dim, 1, "RuntimeError", message)
    if out is not None:
        return torch.gather(input, dim, index, sparse_grad=sparse_grad, out=out)
    return torch.gather(input, dim, index, sparse_grad=sparse_grad)


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.tensor([[0, 2, 1, 5, 4, 3], [3, 1, 2, 0, 5, 4]], device=src.device).repeat(3, 1)), {}


def _edge(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert src is not None
    return (0, torch.full((6, 6), -1, device=src.device)), {}


DROP_INS = (
    DropIn(
        name="gather",
        upstream=torch.gather,
        documented=gather,
        strategies={"checked": _checked, "disable": island(torch.gather)},
        records=("gh126691", "gh197554"),
        sample=Sample(arguments=_arguments, edge=_edge),
        notes={"checked": "reads all of the index once more"},
    ),
)
