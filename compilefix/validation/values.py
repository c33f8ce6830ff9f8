"""Rules that read the values of indices: range, duplicates, enough elements for a mask."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from compilefix.validation.call import Index, Values
from compilefix.validation.faults import SHOWN, at, more, show


def in_range(values: Values) -> Iterator[str]:
    """Check every index against the places there are."""
    for index in values.indices:
        if values.idle and not index.selects:
            continue
        low = -index.size if values.spec.negative and index.dim is not None else 0
        bad = (index.tensor < low) | (index.tensor >= index.size)
        positions = bad.nonzero()[:SHOWN].tolist()
        if positions:
            count = int(bad.sum())
            named = ", ".join(f"{at(index.label, p)} = {int(index.tensor[tuple(p)])}" for p in positions)
            verb = "is" if count == 1 else "are"
            yield f"{named}{more(count)} {verb} outside [{low}, {index.size}) of {_where(values, index)}"


def mask_has_elements(values: Values) -> Iterator[str]:
    """Check that the source has an element for every place that the mask picks."""
    (mask,) = values.indices
    shape = torch.broadcast_shapes(mask.tensor.shape, values.shape)  # type: ignore[no-untyped-call]
    wanted = int(mask.tensor.expand(shape).sum(dtype=torch.int64))
    if wanted > values.available:
        yield f"mask {show(mask.tensor.shape)} picks {wanted} places, source has {values.available} elements"


def no_conflict(values: Values) -> Iterator[str]:
    """Check that no two elements write different values to one place. NaN counts as equal to NaN."""
    if values.written is None or not values.indices or values.written.numel() == 0:
        return
    keys = (_elements(values) if values.spec.elementwise else _places(values)).reshape(-1)
    _, group, counts = torch.unique(keys, return_inverse=True, return_counts=True)
    if len(counts) == len(keys):
        return
    rows = values.written.reshape(len(keys), -1)
    order = torch.arange(len(keys), device=keys.device)
    first = torch.full_like(counts, len(keys)).scatter_reduce(0, group, order, "amin")[group]
    differ = ((rows != rows[first]) & ~(rows.isnan() & rows[first].isnan())).any(1).nonzero().flatten()
    if len(differ) == 0:
        return
    shape = values.indices[0].tensor.shape if len(values.indices) == 1 else _common(values)
    later = int(differ[0])
    name = values.indices[0].label if len(values.indices) == 1 else "indices"
    a, b = (at(name, _position(k, shape)) for k in (int(first[later]), later))
    also = f", and {len(differ) - 1} more such writes" if len(differ) > 1 else ""
    yield f"{a} and {b} write different values to {_place(values, later)}{also}; which one stays is undefined"


def _common(values: Values) -> torch.Size:
    shapes = [index.tensor.shape for index in values.indices]
    return torch.Size(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]


def _wrapped(index: Index) -> torch.Tensor:
    place = index.tensor.long()
    return torch.where(place < 0, place + index.size, place)


def _places(values: Values) -> torch.Tensor:
    """Number the places that are written, of one or several indices together."""
    number = torch.zeros((), dtype=torch.int64, device=values.indices[0].tensor.device)
    for index in values.indices:
        number = number * index.size + _wrapped(index)
    return number


def _elements(values: Values) -> torch.Tensor:
    """Number the elements of the target that scatter writes."""
    (index,) = values.indices
    number = torch.zeros((), dtype=torch.int64, device=index.tensor.device)
    for dim, size in enumerate(values.shape if index.tensor.dim() else ()):
        own = torch.arange(index.tensor.shape[dim], device=index.tensor.device)
        shaped = own.reshape([-1 if d == dim else 1 for d in range(index.tensor.dim())])
        number = number * size + (_wrapped(index) if dim == index.dim else shaped)
    return number.expand(index.tensor.shape) if values.shape and index.tensor.dim() else _wrapped(index)


def _position(number: int, shape: torch.Size) -> list[int]:
    position = []
    for size in reversed(shape):
        position.append(number % size)
        number //= size
    return position[::-1]


def _place(values: Values, number: int) -> str:
    """Name the place that element `number` of the indices writes, as ``input[2, 0]``."""
    shape = _common(values)
    position = _position(number, shape)
    place = ["*"] * max(len(values.shape), 1)
    if values.spec.elementwise:
        place = [str(k) for k in position] or ["0"]
    for index in values.indices:
        if index.dim is not None:
            place[index.dim] = str(int(_wrapped(index).expand(shape)[tuple(position)]))
    while place[-1] == "*":
        place.pop()
    return f"{values.spec.target}[{', '.join(place).replace('*', ':')}] of {show(values.shape)}"


def _where(values: Values, index: Index) -> str:
    target = f"{values.spec.target} {show(values.shape)}"
    return f"the flattened {target}" if index.dim is None else f"dim {index.dim} of {target}"
