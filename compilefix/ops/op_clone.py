"""``torch.clone``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compilefix.ops.clones import fused_clone, opaque_clone
from compilefix.ops.drop_in import DropIn, Op, Sample, island

Tensor = torch.Tensor


def clone(input: Tensor, *, memory_format: torch.memory_format = torch.preserve_format) -> Tensor:
    """
    Return a copy of `input` with memory of its own, through which gradients flow.

    Args:
        input: any shape and dtype.
        memory_format: layout of the copy; ``torch.preserve_format`` keeps the strides of an input without gaps or
            overlap and takes the nearest dense ones otherwise.

    Raises:
        RuntimeError: `memory_format` does not exist for this number of dimensions.

    Upstream: Inductor drops a clone that looks like a no-op, so that what is cloned is overwritten after all,
    https://github.com/pytorch/pytorch/issues/198031 and https://github.com/pytorch/pytorch/issues/197829 (right again
    in 2.15.0), or a custom op sees the storage offset of a slice, https://github.com/pytorch/pytorch/issues/197489.
    ``Tensor.clone`` is the method of the same function. It can go where ``compilefix status`` says off.

    """
    raise NotImplementedError


def _with_format(copy: Callable[[Tensor], Tensor]) -> Op:
    def strategy(input: Tensor, *, memory_format: torch.memory_format = torch.preserve_format) -> Tensor:
        copied = copy(input)
        if memory_format == torch.preserve_format:
            return copied
        return copied.contiguous(memory_format=memory_format)

    return strategy


def _arguments(src: Tensor | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {}


DROP_INS = (
    DropIn(
        name="clone",
        upstream=torch.clone,
        documented=clone,
        strategies={
            "fused-clone": _with_format(fused_clone),
            "opaque-clone": _with_format(opaque_clone),
            "disable": island(torch.clone),
        },
        records=("gh198031", "gh197829", "gh197489"),
        sample=Sample(arguments=_arguments),
    ),
)
