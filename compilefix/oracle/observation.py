"""What one run leaves behind, copied out so that later writes cannot change it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

EXACT_OVERLAP_ELEMENTS = 100_000
"""Up to this many elements a pair of tensors is compared address by address, beyond it by extents."""


@dataclass(frozen=True)
class Node:
    """A container inside a result: its type name and how many entries it has."""

    type: str
    size: int


@dataclass(frozen=True)
class Opaque:
    """An object that the oracle does not look into; only its type is compared."""

    type: str


@dataclass(frozen=True)
class TensorLeaf:
    """A copy of one tensor, with the metadata that a copy loses."""

    value: torch.Tensor
    """Dense, detached copy; same shape and dtype."""

    strides: tuple[int, ...] | None
    """Strides in elements; None where the layout has none."""

    layout: str
    device: str
    requires_grad: bool


@dataclass(frozen=True)
class Raised:
    """An exception, with all that it wraps."""

    type: str
    message: str
    chain: tuple[str, ...]
    """Type names of the exception, its bases, and those of all causes and contexts."""

    where: str = "the call"


Leaf = TensorLeaf | Node | Opaque | int | float | complex | bool | str | None


@dataclass
class Observation:
    """One run: every leaf by its path, memory overlaps, and the exception that ended it."""

    leaves: dict[str, Leaf] = field(default_factory=dict)
    overlaps: frozenset[tuple[str, str]] = frozenset()
    raised: Raised | None = None
    rng: bytes = b""


def raised(error: BaseException, where: str = "the call") -> Raised:
    """Describe `error`: its type, message, and the types of everything it wraps."""
    chain: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        chain += [c.__name__ for c in type(current).__mro__ if c not in (object, BaseException, Exception)]
        current = current.__cause__ or getattr(current, "inner_exception", None) or current.__context__
    return Raised(type(error).__name__, str(error), tuple(dict.fromkeys(chain)), where)


def walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """
    Yield ``(path, leaf)`` for all tensors and plain values in `value`, containers as `Node`.

    Tuples, lists, dicts, sets, dataclasses and modules (their parameters and buffers) are looked into.
    """
    if isinstance(value, torch.nn.Module):
        state = dict(value.named_parameters()) | dict(value.named_buffers())
        yield path, Node(type(value).__name__, len(state))
        for name, tensor in state.items():
            yield f"{path}.{name}", tensor
    elif isinstance(value, torch.Tensor) or value is None or isinstance(value, bool | int | float | complex | str):
        yield path, value
    elif isinstance(value, Mapping):
        yield path, Node(type(value).__name__, len(value))
        for key, item in value.items():
            yield from walk(item, f"{path}[{key!r}]")
    elif isinstance(value, tuple | list):
        yield path, Node(type(value).__name__, len(value))
        for i, item in enumerate(value):
            yield from walk(item, f"{path}[{i}]")
    elif isinstance(value, set | frozenset):
        yield path, Node(type(value).__name__, len(value))
        for i, item in enumerate(sorted(value, key=repr)):
            yield from walk(item, f"{path}{{{i}}}")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        yield path, Node(type(value).__name__, len(fields))
        for entry in fields:
            yield from walk(getattr(value, entry.name), f"{path}.{entry.name}")
    elif isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        kind = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(value)]
        yield path, kind(value)
    else:
        yield path, Opaque(type(value).__name__)


def flatten(value: Any, path: str) -> dict[str, Leaf]:
    """Copy `value` out: every tensor becomes a `TensorLeaf` that shares no memory with it."""
    return {name: _copy(leaf) if isinstance(leaf, torch.Tensor) else leaf for name, leaf in walk(value, path)}


def _copy(tensor: torch.Tensor) -> TensorLeaf:
    strided = tensor.layout is torch.strided
    plain = tensor.detach()
    if not strided:
        plain = plain.to_dense()
    value = plain.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).cpu()
    return TensorLeaf(
        value=value,
        strides=tuple(tensor.stride()) if strided else None,
        layout=str(tensor.layout).removeprefix("torch."),
        device=tensor.device.type,
        requires_grad=tensor.requires_grad,
    )


def overlaps(*parts: tuple[str, Any]) -> frozenset[tuple[str, str]]:
    """
    Return the pairs of paths whose tensors share at least one byte of memory.

    Sharing a storage without a common byte does not count: no write through one is seen through the other.
    """
    tensors: dict[int, list[tuple[str, torch.Tensor]]] = {}
    for path, value in parts:
        for name, leaf in walk(value, path):
            address = _storage(leaf)
            if address:
                tensors.setdefault(address, []).append((name, leaf))
    found: set[tuple[str, str]] = set()
    for group in tensors.values():
        for i, (one, a) in enumerate(group):
            found.update((one, two) for two, b in group[i + 1 :] if _share_memory(a, b))
    return frozenset(found)


def _storage(leaf: Any) -> int:
    if not isinstance(leaf, torch.Tensor) or leaf.layout is not torch.strided or leaf.numel() == 0:
        return 0
    try:
        return leaf.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # wrapper subclasses have no storage of their own
        return 0


def _share_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    first, second = _extent(a), _extent(b)
    if first[1] <= second[0] or second[1] <= first[0]:
        return False
    if max(a.numel(), b.numel()) > EXACT_OVERLAP_ELEMENTS:
        return True
    return not _bytes(a).isdisjoint(_bytes(b))


def _extent(t: torch.Tensor) -> tuple[int, int]:
    size = t.element_size()
    start = t.storage_offset() * size
    reach = sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    return start, start + (reach + 1) * size


def _bytes(t: torch.Tensor) -> set[int]:
    size = t.element_size()
    offsets = {t.storage_offset()}
    for n, s in zip(t.shape, t.stride(), strict=True):
        if s:
            offsets = {o + i * s for o in offsets for i in range(n)}
    return {o * size + k for o in offsets for k in range(size)}
