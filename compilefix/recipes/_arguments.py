"""Checks of arguments that a compiled graph can hold: they look at shapes and dtypes, never at values."""

from __future__ import annotations

import torch

Number = int | float | bool


def tensor(name: str, value: object) -> None:
    """Raise `TypeError` unless `value` is a tensor."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} must be a tensor, not {type(value).__name__}")


def same_device(**tensors: torch.Tensor) -> None:
    """Raise `ValueError` unless all tensors are on one device."""
    (first, reference), *others = tensors.items()
    for name, value in others:
        if value.device != reference.device:
            raise ValueError(f"{name} is on {value.device} and {first} on {reference.device}")


def dimension(dim: int, tensor: torch.Tensor, name: str) -> int:
    """Return `dim` counted from the front; raise `ValueError` where `tensor`, called `name`, has no such dimension."""
    if not -tensor.ndim <= dim < tensor.ndim:
        raise ValueError(f"dim={dim} does not exist: {name} has {tensor.ndim} dimensions")
    return dim % tensor.ndim


def integers(name: str, value: torch.Tensor) -> torch.Tensor:
    """Return `value` as int64, the dtype that every torch has for indices; raise `TypeError` for other kinds."""
    tensor(name, value)
    if value.is_floating_point() or value.is_complex() or value.dtype is torch.bool:
        raise TypeError(f"{name} must have an integer dtype, not {value.dtype}")
    return value.long()


def count(name: str, value: int, least: int = 0) -> None:
    """Raise unless `value` is a whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")


def fits(name: str, value: Number, dtype: torch.dtype) -> None:
    """Raise `TypeError` where storing `value` in `dtype` would drop its fraction or its kind."""
    if not isinstance(value, (int, float)):  # torch 2.9 does not trace int | float
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if dtype.is_floating_point or dtype.is_complex:
        return
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        raise TypeError(f"{name}={value} cannot be stored in {dtype}")
    if dtype is torch.bool:
        if value not in (0, 1):
            raise TypeError(f"{name}={value} cannot be stored in torch.bool")
        return
    bounds = torch.iinfo(dtype)
    if not bounds.min <= value <= bounds.max:
        raise TypeError(f"{name}={value} cannot be stored in {dtype}: it holds {bounds.min} to {bounds.max}")


def slots(src: torch.Tensor, index: torch.Tensor, dim: int, dim_size: int | None) -> tuple[torch.Tensor, list[int]]:
    """
    Return the index of every element of `src` and the shape of what is scattered into.

    `index` is ``[src.shape[dim]]``, one slot for all elements of an entry, or of the shape of `src`.
    """
    index = integers("index", index)
    same_device(src=src, index=index)
    entries = src.shape[dim]
    if dim_size is None:
        dim_size = int(index.max()) + 1 if index.numel() else 0  # a value of a tensor: breaks a compiled graph
    count("dim_size", dim_size)
    if index.shape != src.shape:
        if index.ndim != 1 or index.shape[0] != entries:
            raise ValueError(
                f"index has shape {tuple(index.shape)}: expected ({entries},), the entries of src along dim={dim}, "
                f"or src's own shape {tuple(src.shape)}"
            )
        index = along(index, src.ndim, dim).expand(src.shape)
    return index, [*src.shape[:dim], dim_size, *src.shape[dim + 1 :]]


def along(values: torch.Tensor, ndim: int, dim: int) -> torch.Tensor:
    """Return `values` with their first dimension at `dim` of `ndim`, ready to broadcast."""
    return values.reshape([1] * dim + list(values.shape) + [1] * (ndim - dim - values.ndim))
