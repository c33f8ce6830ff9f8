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


def _backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
    return opaque_clone(grad)


_copy.register_autograd(_backward)

if hasattr(torch.library, "register_vmap"):

    def _vmap(info: object, dims: tuple[int | None, ...], x: torch.Tensor) -> tuple[torch.Tensor, int | None]:
        return _copy(x), dims[0]

    torch.library.register_vmap(_copy, _vmap)


class _Transformed(torch.autograd.Function):
    """
    The copy inside of a transform of `torch.func`, which refuses a custom op's own backward and forgets its tangent.

    Dynamo, looking into a Function, loses the tangent and part of a second derivative; AOTAutograd gets them right.
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
        return _Transformed.apply(gradients[0])  # type: ignore[no-untyped-call]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _Transformed.apply(tangents[0])  # type: ignore[no-untyped-call]


@torch.compiler.allow_in_graph  # type: ignore[untyped-decorator]
def _transformed(x: torch.Tensor) -> torch.Tensor:
    return _Transformed.apply(x)  # type: ignore[no-untyped-call,no-any-return]


def opaque_clone(x: torch.Tensor) -> torch.Tensor:
    """
    Return a copy of `x` (any shape and dtype) by an operator that the compiler cannot look into.

    Differentiable in both modes and any order, inside of the transforms of `torch.func` as well; graphs with such a
    transform are then not kept in AOTAutograd's cache.
    """
    if torch._C._are_functorch_transforms_active():
        return _transformed(x)  # type: ignore[no-any-return]
    return _copy(x)  # type: ignore[no-any-return]


def fused_clone(x: torch.Tensor) -> torch.Tensor:
    """
    Return a copy of `x` (any shape and dtype) that fuses with its neighbours.

    A selection between `x` and itself under a mask that is always true: no pass knows that it is a copy.
    """
    if x.ndim == 0:
        return torch.where(torch.ones((), dtype=torch.bool, device=x.device), x, x)
    return torch.where(torch.arange(x.shape[-1], device=x.device) >= 0, x, x)
