"""Copies that Inductor cannot take away, unlike ``.clone()``."""

from __future__ import annotations

import torch


@torch.library.custom_op("compilefix::opaque_clone", mutates_args=())
def opaque_clone(x: torch.Tensor) -> torch.Tensor:
    """Return a copy of `x` (any shape and dtype) by an operator that the compiler cannot look into."""
    return x.clone()


@opaque_clone.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def _backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
    return opaque_clone(grad)


opaque_clone.register_autograd(_backward)

if hasattr(torch.library, "register_vmap"):

    def _vmap(info: object, dims: tuple[int | None, ...], x: torch.Tensor) -> tuple[torch.Tensor, int | None]:
        return opaque_clone(x), dims[0]

    torch.library.register_vmap(opaque_clone, _vmap)


def fused_clone(x: torch.Tensor) -> torch.Tensor:
    """
    Return a copy of `x` (any shape and dtype) that fuses with its neighbours.

    A selection between `x` and itself under a mask that is always true: no pass knows that it is a copy.
    """
    if x.ndim == 0:
        return torch.where(torch.ones((), dtype=torch.bool, device=x.device), x, x)
    return torch.where(torch.arange(x.shape[-1], device=x.device) >= 0, x, x)
