"""Checks that compiled code keeps: what they return is used, so no pass can drop or postpone them."""

from __future__ import annotations

from collections.abc import Callable

import torch

Tensor = torch.Tensor


@torch.library.custom_op("compilefix::in_range", mutates_args=())
def in_range(index: torch.Tensor, size: int, dim: int, touched: int, error: str, message: str) -> torch.Tensor:
    """
    Return a copy of `index` (any shape, integers), every element of which is in ``[0, size)``.

    Where `touched`, the number of elements to be read or written, is 0, nothing is checked, as in upstream's kernels.
    On the CPU a wrong one raises ``IndexError`` or ``RuntimeError``, as the name `error` says, with `message` in which
    ``{index}``, ``{size}`` and ``{dim}`` are filled in. Elsewhere it fails asynchronously, as upstream's kernels do.
    """
    if index.numel() == 0 or touched == 0:
        return index.clone()
    if index.device.type != "cpu":
        torch._assert_async(((index >= 0) & (index < size)).all(), message)
        return index.clamp(0, size - 1)
    low, high = (int(bound) for bound in torch.aminmax(index))
    if low < 0 or high >= size:
        wrong = next(int(i) for i in index.flatten() if not 0 <= i < size)
        raise (IndexError if error == "IndexError" else RuntimeError)(message.format(index=wrong, size=size, dim=dim))
    return index.clone()


@in_range.register_fake
def _(index: torch.Tensor, size: int, dim: int, touched: int, error: str, message: str) -> torch.Tensor:
    return torch.empty_like(index)


@torch.library.custom_op("compilefix::nonzero", mutates_args=())
def nonzero(divisor: torch.Tensor) -> torch.Tensor:
    """Return a copy of `divisor` (any shape, integers); raise ``RuntimeError`` where it has a zero."""
    if not divisor.all():
        raise RuntimeError("ZeroDivisionError")
    return divisor.clone()


@nonzero.register_fake
def _(divisor: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(divisor)


@torch.library.custom_op("compilefix::probabilities", mutates_args=())
def probabilities(p: torch.Tensor) -> torch.Tensor:
    """Return a copy of `p` (any shape, floating), every element of which is in ``[0, 1]``; raise ``RuntimeError``."""
    message = (
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)"
    )
    fine = ((p >= 0) & (p <= 1)).all()
    if p.device.type != "cpu":
        torch._assert_async(fine, message)
    elif not fine:
        raise RuntimeError(message)
    return p.clone()


@probabilities.register_fake
def _(p: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(p)


if hasattr(torch.library, "register_vmap"):

    def _vmap_in_range(
        info: object,
        dims: tuple[int | None, ...],
        index: Tensor,
        size: int,
        dim: int,
        touched: int,
        error: str,
        message: str,
    ) -> tuple[Tensor, int | None]:
        return in_range(index, size, dim, touched, error, message), dims[0]

    def _vmap_nonzero(info: object, dims: tuple[int | None, ...], divisor: Tensor) -> tuple[Tensor, int | None]:
        return nonzero(divisor), dims[0]

    def _vmap_probabilities(info: object, dims: tuple[int | None, ...], p: Tensor) -> tuple[Tensor, int | None]:
        return probabilities(p), dims[0]

    torch.library.register_vmap(in_range, _vmap_in_range)
    torch.library.register_vmap(nonzero, _vmap_nonzero)
    torch.library.register_vmap(probabilities, _vmap_probabilities)


def require(condition: bool, error: type[Exception], message: Callable[[], str]) -> None:
    """Raise `error` with what `message` returns unless `condition` holds: for what is known while tracing."""
    if not condition:
        raise error(message())


def size_along(input: Tensor, dim: int) -> int:
    """Return the number of positions along `dim`; a 0-dim tensor has one. Raise ``IndexError`` for another `dim`."""
    return input.shape[dimension(input, dim)] if input.ndim else 1


def dimension(input: Tensor, dim: int) -> int:
    """Return `dim`, which may be negative, as a position in the shape of `input`; 0 for a 0-dim tensor."""
    most = max(input.ndim, 1)
    require(
        -most <= dim < most,
        IndexError,
        lambda: f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})",
    )
    return dim % most


def integral(index: Tensor, op: str) -> None:
    """Raise ``RuntimeError`` unless `index` is int32 or int64."""
    require(
        index.dtype in (torch.int32, torch.int64),
        RuntimeError,
        lambda: f"{op}(): Expected dtype int32/int64 for index but got: {index.dtype}",
    )


def same_dtype(input: Tensor, source: Tensor, op: str) -> None:
    """Raise ``RuntimeError`` unless `input` and `source` have one dtype."""
    require(
        input.dtype == source.dtype,
        RuntimeError,
        lambda: f"{op}(): self ({input.dtype}) and source ({source.dtype}) must have the same scalar type",
    )


def vector(index: Tensor, error: type[Exception], op: str) -> None:
    """Raise `error` unless `index` has at most one dimension."""
    require(
        index.ndim <= 1,
        error,
        lambda: f"{op}(): Index should have dimension 1 or 0 (got {index.ndim})",
    )


def as_many(index: Tensor, slices: int) -> None:
    """Raise ``RuntimeError`` unless `index` has as many elements as a source slices; either may be known late only."""
    # Without a message: Dynamo of 2.6.0 does not take one.
    torch._check(index.numel() == slices)  # type: ignore[no-untyped-call]


def without(shape: torch.Size, dim: int) -> tuple[int, ...]:
    """Return `shape` less its dimension `dim`; the empty shape stays."""
    return (*shape[:dim], *shape[dim + 1 :])


def along(input: Tensor, dim: int, index: Tensor) -> tuple[Tensor | None, ...]:
    """Return the indices for ``aten.index_put`` that select `index` along `dim` of an `input` that is not 0-dim."""
    return (None,) * dim + (index.reshape(-1),)


def spread(index: Tensor, dim: int, shape: torch.Size) -> Tensor:
    """Return the vector `index` along `dim`, the same everywhere else, for the scatter functions; `shape` is theirs."""
    # Those of 2.6.0 take int64 only.
    return index.to(torch.int64).reshape((-1,) + (1,) * (len(shape) - dim - 1)).expand(shape)
