"""Copies that Inductor cannot take away, unlike ``.clone()``."""

from __future__ import annotations

from typing import Any

import torch


@torch.library.custom_op("compilefix::opaque_clone", mutates_args=())
def _copy(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@_copy.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


if hasattr(torch.library, "register_vmap"):

    def _vmap(info: object, dims: tuple[int | None, ...], x: torch.Tensor) -> tuple[torch.Tensor, int | None]:
        return _copy(x), dims[0]

    torch.library.register_vmap(_copy, _vmap)


class _OpaqueClone(torch.autograd.Function):
    """
    The copy with its derivatives.

    A custom op's own backward is refused by ``torch.func.grad``. Dynamo, looking into a Function, loses the forward
    derivative and part of the second one; `opaque_clone` hides it from Dynamo, and AOTAutograd gets them right.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return _copy(x)  # type: ignore[no-any-return]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _OpaqueClone.apply(gradients[0])  # type: ignore[no-untyped-call]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _OpaqueClone.apply(tangents[0])  # type: ignore[no-untyped-call]


@torch.compiler.allow_in_graph  # type: ignore[untyped-decorator]
def opaque_clone(x: torch.Tensor) -> torch.Tensor:
    """
    Return a copy of `x` (any shape and dtype) by an operator that the compiler cannot look into.

    Differentiable in both modes and any order. Graphs that hold it are not kept in AOTAutograd's cache.
    """
    return _OpaqueClone.apply(x)  # type: ignore[no-untyped-call,no-any-return]


def fused_clone(x: torch.Tensor) -> torch.Tensor:
    """
    Return a copy of `x` (any shape and dtype) that fuses with its neighbours.

    A selection between `x` and itself under a mask that is always true: no pass knows that it is a copy.
    """
    if x.ndim == 0:
        return torch.where(torch.ones((), dtype=torch.bool, device=x.device), x, x)
    return torch.where(torch.arange(x.shape[-1], device=x.device) >= 0, x, x)
