"""Copies of a graph, and of inputs that share memory among themselves as the originals do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch


def twin_of(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return `graph` as it is now, with the same parameters: compiling rewrites what it is given."""
    return torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))


def twins(args: Sequence[Any], convert: Callable[[torch.Tensor], torch.Tensor] | None = None) -> list[Any]:
    """
    Return copies of `args` with the same shapes, strides and ``requires_grad``, as leaves.

    Tensors that share a storage share one again; what is no strided tensor is cloned or handed on. `convert` is applied
    to every copied storage seen as a tensor of one dimension, and must keep its length in elements.
    """
    storages: dict[tuple[int, torch.dtype], torch.Tensor] = {}
    return [_twin(arg, storages, convert) if isinstance(arg, torch.Tensor) else arg for arg in args]


def _twin(
    tensor: torch.Tensor,
    storages: dict[tuple[int, torch.dtype], torch.Tensor],
    convert: Callable[[torch.Tensor], torch.Tensor] | None,
) -> torch.Tensor:
    plain = tensor.detach()
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
        return plain.clone().requires_grad_(tensor.requires_grad)
    storage = plain.untyped_storage()
    key = (storage._cdata, plain.dtype)
    flat = storages.get(key)
    if flat is None:
        whole = plain.as_strided((storage.nbytes() // plain.element_size(),), (1,), 0)
        flat = storages[key] = whole.clone() if convert is None else convert(whole.clone())
    view = flat.as_strided(plain.shape, plain.stride(), plain.storage_offset())
    if plain.is_conj() != view.is_conj() or plain.is_neg() != view.is_neg():
        view = plain.clone() if convert is None else convert(plain.clone())
    return view.detach().requires_grad_(tensor.requires_grad)


def widened(flat: torch.Tensor) -> torch.Tensor:
    """Return `flat` in float64 or complex128 where it holds floats."""
    if flat.is_complex():
        return flat.to(torch.complex128)
    return flat.to(torch.float64) if flat.is_floating_point() else flat


def size_of(args: Sequence[Any]) -> int:
    """Return the bytes of all storages behind `args`, each counted once."""
    found = {}
    for arg in args:
        if isinstance(arg, torch.Tensor) and arg.layout is torch.strided and not arg.is_meta:
            storage = arg.untyped_storage()
            found[storage._cdata] = storage.nbytes()
    return sum(found.values())
