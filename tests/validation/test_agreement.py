"""On random arguments validated mode refuses what plain torch refuses, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from compilefix.validation import IndexFault, validate

SETTINGS = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
INDEX_DTYPES = [torch.int64] * 8 + [torch.int32, torch.int16, torch.uint8, torch.float32]
DTYPES = [torch.float32] * 8 + [torch.float64]

Case = tuple[str, tuple[Any, ...]]


def filled(shape: list[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return 0, 1, 2 … in a shape."""
    return torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)


@st.composite
def shapes(draw: st.DrawFn, most: int = 3) -> list[int]:
    """Draw a shape, seldom with an empty dimension."""
    return draw(st.lists(st.sampled_from([1, 2, 3, 4, 2, 3, 4, 0]), max_size=most))


@st.composite
def near(draw: st.DrawFn, shape: list[int]) -> list[int]:
    """Draw a shape that is, as a rule, the given one."""
    shape = list(shape)
    match draw(st.sampled_from(["same"] * 12 + ["longer", "shorter", "size", "size"])):
        case "longer":
            shape.append(draw(st.integers(0, 2)))
        case "shorter":
            shape = shape[:-1]
        case "size" if shape:
            shape[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 4))
    return shape


@st.composite
def indices(draw: st.DrawFn, shape: list[int], size: int) -> torch.Tensor:
    """Draw an index tensor, mostly in range."""
    low, high = draw(st.sampled_from([(0, size - 1)] * 4 + [(-size, size - 1), (-size - 1, size)]))
    count = torch.Size(shape).numel()
    numbers = draw(st.lists(st.integers(min(low, high), max(low, high)), min_size=count, max_size=count))
    return torch.tensor(numbers).reshape(shape).to(draw(st.sampled_from(INDEX_DTYPES)))


@st.composite
def placed(draw: st.DrawFn) -> Case:
    """Draw a call with one index element for every place: scatter, gather."""
    shape = draw(shapes())
    dim = draw(st.integers(-len(shape), max(len(shape) - 1, 0))) if shape else 0
    index_shape = [draw(st.integers(0, n)) for n in shape]
    if shape:
        index_shape[dim] = draw(st.integers(0, 5))
    index = draw(indices(draw(near(index_shape)), shape[dim] if shape else 1))
    op = draw(st.sampled_from(["scatter", "scatter_", "scatter_add", "scatter_reduce", "gather", "scatter of 2"]))
    if op == "gather":
        return op, (filled(shape), dim, index)
    if op == "scatter of 2":
        return "scatter", (filled(shape), dim, index, 2.0)
    source = filled(draw(near([n + draw(st.integers(0, 1)) for n in index_shape])), draw(st.sampled_from(DTYPES)))
    return op, (filled(shape), dim, index, source, *(["sum"] if op == "scatter_reduce" else []))


@st.composite
def rows(draw: st.DrawFn) -> Case:
    """Draw a call with one index element for every row: index_add, index_copy, index_select, index_fill."""
    shape = draw(shapes())
    dim = draw(st.integers(-len(shape), max(len(shape) - 1, 0))) if shape else 0
    index = draw(indices(draw(near([draw(st.integers(0, 4))])), shape[dim] if shape else 1))
    op = draw(st.sampled_from(["index_add", "index_add_", "index_copy", "index_copy_", "index_select", "index_fill"]))
    if op == "index_select":
        return op, (filled(shape), dim, index)
    if op == "index_fill":
        return op, (filled(shape), dim, index, draw(st.sampled_from([1.0, filled([]), filled([1])])))
    source = list(shape)
    if source:
        source[dim] = index.numel()
    return op, (filled(shape), dim, index, filled(draw(near(source)), draw(st.sampled_from(DTYPES))))


@st.composite
def bracketed(draw: st.DrawFn) -> Case:
    """Draw a subscript or an assignment, with slices, None, an ellipsis, integers, masks and index tensors."""
    shape = draw(shapes())
    common = draw(shapes(2))
    items: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))] or [1]:
        match draw(st.sampled_from(["index"] * 5 + ["slice", "slice", "none", "ellipsis", "integer", "mask"])):
            case "slice":
                items.append(slice(draw(st.integers(0, 2)), draw(st.integers(0, 4))))
            case "none":
                items.append(None)
            case "ellipsis" if ... not in [item for item in items if not isinstance(item, torch.Tensor)]:
                items.append(...)
            case "integer":
                items.append(draw(st.integers(-size - 1, size)))
            case "mask" if shape:
                items.append(filled(draw(near([size]))) % 2 == 0)
            case _:
                items.append(draw(indices(draw(near(common)), size)))
    subscripts = tuple(items) if len(items) > 1 else items[0]
    if draw(st.booleans()):
        return "getitem", (filled(shape), subscripts)
    try:
        result = list(filled(shape)[subscripts].shape)
    except (RuntimeError, IndexError):
        result = [2]
    value = draw(st.sampled_from([filled(draw(near(result)), draw(st.sampled_from(DTYPES))), 2.0]))
    return "setitem", (filled(shape), subscripts, value)


def run(op: str, target: torch.Tensor, *rest: Any) -> torch.Tensor:
    """Make the call on a copy of the target."""
    target = target.clone()
    if op == "getitem":
        return target[rest[0]]
    if op == "setitem":
        target[rest[0]] = rest[1]
        return target
    found: torch.Tensor = getattr(target, op)(*rest)
    return found


def outcome(call: Callable[[], torch.Tensor]) -> torch.Tensor | Exception:
    """Return what a call returns or raises."""
    try:
        return call()
    except (RuntimeError, IndexError) as error:
        return error


def agree(case: Case) -> None:
    """Hold a call with validated mode against the call without it."""
    op, arguments = case
    want = outcome(lambda: run(op, *arguments))
    with validate("ignore"):
        got = outcome(lambda: run(op, *arguments))
    with validate("error"):
        strict = outcome(lambda: run(op, *arguments))
    if isinstance(want, torch.Tensor):
        assert isinstance(got, torch.Tensor), got
        assert torch.equal(got, want)
        assert isinstance(strict, torch.Tensor) or "which one stays is undefined" in str(strict)
    else:
        assert isinstance(got, Exception), want


@SETTINGS
@given(placed())
def test_scatter_and_gather(case: Case) -> None:
    """Refused if and only if torch refuses; every refusal is validated mode's own."""
    agree(case)
    assert_explained(case)


@SETTINGS
@given(rows())
def test_rows(case: Case) -> None:
    """As above, for index_add, index_copy, index_select and index_fill."""
    agree(case)
    assert_explained(case)


@SETTINGS
@given(bracketed())
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_brackets(case: Case) -> None:
    """Refused if and only if torch refuses."""
    agree(case)


def assert_explained(case: Case) -> None:
    """Check that what torch refuses was told before torch was asked."""
    with validate("ignore"):
        got = outcome(lambda: run(case[0], *case[1]))
    assert isinstance(got, torch.Tensor | IndexFault), got
