"""What one run leaves behind, copied out so that later writes cannot change it."""

from __future__ import annotations

import dataclasses
import enum
import re
import sys
import traceback
from collections import deque
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

VALUES = (
    *(bool, int, float, complex, str, bytes, bytearray, range, slice, enum.Enum),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format),
)
"""Types, and their subclasses, whose ``repr`` says all there is to compare."""

BITS = re.compile(r"torch\.(bits\w+|float4\w+|u?int[1-7])")
"""Dtypes that only store bits: torch has no operators for them."""

FRAMES = 24
"""Frames of an exception that are kept."""

PLAIN = (bool, int, float, complex, str, type(None))
HOLLOW = ("FakeTensor", "FunctionalTensor")
"""Tensors of the compiler that hold no data; one that gets out is a defect in itself."""


@dataclass(frozen=True)
class Node:
    """A container inside a result: its type name and how many entries it has."""

    type: str
    size: int
    keys: tuple[str, ...] = ()
    """Keys of a mapping in their order."""


@dataclass(frozen=True)
class Opaque:
    """An object that the oracle does not look into; its type is compared, and its text where that says all."""

    type: str
    text: str = ""


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
    type: str = "Tensor"
    """Class of the tensor; for values that are none, such as an ndarray, theirs."""


@dataclass(frozen=True)
class Raised:
    """An exception, with all that it wraps."""

    type: str
    message: str
    chain: tuple[str, ...]
    """Type names of the exception, its bases, and those of all causes and contexts."""

    where: str = "the call"

    frames: tuple[str, ...] = ()
    """Innermost frames of the exception that came first, as ``file:function:line``, outermost first."""


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
    return Raised(type(error).__name__, str(error), tuple(dict.fromkeys(chain)), where, _frames(error))


def _frames(error: BaseException) -> tuple[str, ...]:
    first, seen = error, {id(error)}
    while (cause := first.__cause__ or getattr(first, "inner_exception", None)) is not None and id(cause) not in seen:
        first = cause
        seen.add(id(first))
    stack = traceback.extract_tb(first.__traceback__)[-FRAMES:]
    return tuple(f"{frame.filename}:{frame.name}:{frame.lineno}" for frame in stack)


def walk(value: Any, path: str, _above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """
    Yield ``(path, leaf)`` for all tensors and plain values in `value`, containers as `Node`.

    Tuples, lists, deques, dicts and their views, sets, dataclasses and modules (their parameters and buffers) are
    looked into; a container inside itself is an `Opaque`.
    """
    if isinstance(value, torch.nn.Module):
        state = dict(value.named_parameters()) | dict(value.named_buffers())
        yield path, Node(type(value).__name__, len(state))
        for name, tensor in state.items():
            yield f"{path}.{name}", tensor
        return
    if isinstance(value, torch.Tensor) or type(value) in PLAIN or as_tensor(value) is not None:
        yield path, value
        return
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        kind = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(value)]
        yield path, kind(value)
        return
    name = type(value).__name__
    if isinstance(value, VALUES):
        yield path, Opaque(name, repr(value))
        return
    if id(value) in _above:
        yield path, Opaque(f"{name} inside itself")
        return
    items: Iterable[tuple[str, Any]]
    keys: tuple[str, ...] = ()
    if isinstance(value, Mapping):
        texts = [repr(key) for key in value]
        keys = tuple(f"#{i}" if " at 0x" in text else text for i, text in enumerate(texts))
        items = zip((f"[{key}]" for key in keys), value.values(), strict=True)
    elif isinstance(value, tuple | list | deque | KeysView | ValuesView | ItemsView):
        items = [(f"[{i}]", item) for i, item in enumerate(value)]
    elif isinstance(value, set | frozenset):
        items = [(f"{{{i}}}", item) for i, item in enumerate(sorted(value, key=repr))]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = [(f".{entry.name}", getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    else:
        yield path, Opaque(name)
        return
    items = list(items)
    yield path, Node(name, len(items), keys)
    for step, item in items:
        yield from walk(item, f"{path}{step}", (*_above, id(value)))


def as_tensor(value: Any) -> torch.Tensor | None:
    """Return `value` if it is a tensor, the tensor over the same memory if it is NumPy's, None otherwise."""
    if isinstance(value, torch.Tensor):
        return value
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic):
        return None
    array = numpy.asarray(value)
    try:
        return torch.from_numpy(array if min(array.strides, default=0) >= 0 else array.copy())
    except (TypeError, ValueError):  # objects, text, records, the other byte order
        return None


def inner_tensors(tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return by attribute the tensors that `tensor` wraps; empty for one that holds its own data."""
    if tensor.is_nested and tensor.layout is torch.strided:
        return {f"[{i}]": part for i, part in enumerate(tensor.detach().unbind())}
    if not is_traceable_wrapper_subclass(tensor):
        return {}
    names, _ = tensor.__tensor_flatten__()
    kept = [name for name in names if not name.endswith("_seqlen_tensor")]  # a nested tensor makes those on demand
    return {f".{name}": getattr(tensor, name) for name in kept}


def flatten(value: Any, path: str) -> dict[str, Leaf]:
    """Copy `value` out: every tensor becomes a `TensorLeaf` that shares no memory with it."""
    leaves: dict[str, Leaf] = {}
    with torch._C.DisableTorchFunctionSubclass():
        for name, leaf in walk(value, path):
            tensor = as_tensor(leaf)
            if tensor is None:
                leaves[name] = leaf
            else:
                leaves |= _copies(tensor, name, type(leaf).__name__, requires_grad=tensor.requires_grad)
    return leaves


def _copies(tensor: torch.Tensor, path: str, type_name: str, *, requires_grad: bool) -> dict[str, Leaf]:
    inner = inner_tensors(tensor)
    if inner:
        leaves: dict[str, Leaf] = {path: Node(type_name, len(inner))}
        for step, part in inner.items():
            leaves |= _copies(part, path + step, type(part).__name__, requires_grad=requires_grad or part.requires_grad)
        return leaves
    strided = tensor.layout is torch.strided
    unusual = tensor.is_quantized or BITS.fullmatch(str(tensor.dtype))
    leaf = TensorLeaf(
        value=_value(tensor.detach(), hollow=type_name in HOLLOW),
        strides=tuple(tensor.stride()) if strided else None,
        layout=str(tensor.layout).removeprefix("torch."),
        device=tensor.device.type,
        requires_grad=requires_grad,
        type=f"{type_name} of {tensor.dtype}" if unusual else type_name,
    )
    return {path: leaf}


def _value(plain: torch.Tensor, *, hollow: bool) -> torch.Tensor:
    if plain.is_meta or hollow:
        return torch.empty(tuple(plain.shape), dtype=plain.dtype, device="meta")
    if plain.is_quantized:
        return plain.dequantize().contiguous().cpu()
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    if BITS.fullmatch(str(plain.dtype)):
        plain = plain.view(torch.uint8 if plain.element_size() == 1 else torch.int16)
    return plain.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).cpu()
