"""Slices, selections and diagonals in all their odd corners: every strategy is torch's op, errors included."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from compilefix import ops
from compilefix.ops.drop_in import PLAIN

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
LAYOUTS = ("contiguous", "transposed", "expanded", "gaps")
BOUND = st.none() | st.integers(-7, 7)
SETTINGS = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def tensors(draw: st.DrawFn, least: int = 0) -> torch.Tensor:
    """Draw a tensor of up to three dimensions, some of them empty, in one of several layouts."""
    shape = draw(st.lists(st.integers(0, 4), min_size=least, max_size=3))
    return filled(shape, draw(st.sampled_from(DTYPES)), draw(st.sampled_from(LAYOUTS)))


def filled(shape: Any, dtype: torch.dtype, layout: str = "contiguous", start: int = 1) -> torch.Tensor:
    """Return distinct numbers, as far as the dtype has them."""
    shape = list(shape)
    if layout == "transposed" and shape:
        return filled(shape[::-1], dtype, start=start).permute(*range(len(shape))[::-1])
    if layout == "expanded" and shape:
        return filled([1, *shape[1:]], dtype, start=start).expand(shape)
    if layout == "gaps" and shape:
        return filled([*shape[:-1], shape[-1] * 2 + 1], dtype, start=start)[..., 1::2]
    count = torch.Size(shape).numel()
    numbers = torch.arange(start, start + count).reshape(shape)
    return (numbers % 3 == 0) if dtype == torch.bool else numbers.to(dtype)


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    """Return a result, or the class of what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            return type(error)


def hold(name: str, x: torch.Tensor, *args: Any) -> None:
    """Assert that all strategies give torch's result or error, in new memory, and leave the input alone."""
    drop_in = ops.spec(name)
    before = x.clone()
    want = outcome(drop_in.upstream, x, *args)
    for strategy, f in drop_in.strategies.items():
        if strategy in (PLAIN, "disable"):
            continue
        got = outcome(f, x, *args)
        if isinstance(want, type):
            assert got is want, strategy
            continue
        assert not isinstance(got, type), (strategy, got)
        assert (got.dtype, got.shape) == (want.dtype, want.shape), strategy
        assert torch.equal(got, want), strategy
        assert not got.numel() or got.data_ptr() != x.data_ptr(), strategy
    assert torch.equal(x, before)


@st.composite
def sources(draw: st.DrawFn, x: torch.Tensor, shape: Any) -> torch.Tensor:
    """Draw a source for `shape`: mostly of that shape, now and then not, of the dtype of `x` or another."""
    shape = list(shape)
    twist = draw(st.sampled_from(("none",) * 6 + ("longer", "one", "fewer", "more")))
    if twist in ("longer", "one") and shape:
        where = draw(st.integers(0, len(shape) - 1))
        shape[where] = shape[where] + 1 if twist == "longer" else 1
    elif twist == "fewer":
        shape = shape[1:]
    elif twist == "more":
        shape = [1, *shape]
    dtype = draw(st.sampled_from((x.dtype, x.dtype, *DTYPES)))
    return filled(shape, dtype, draw(st.sampled_from(LAYOUTS)), start=100)


@given(st.data())
@SETTINGS
def test_slice_scatter(data: st.DataObject) -> None:
    """Bounds None, negative, beyond the end and crossed; steps zero and below; dimensions out of range; 0-dim."""
    x = data.draw(tensors())
    dim, start, end = data.draw(st.integers(-4, 3)), data.draw(BOUND), data.draw(BOUND)
    step = data.draw(st.sampled_from((1, 1, 1, 2, 3, 9, 0, -1)))
    try:
        axis = range(x.ndim)[dim]
        shape = list(x.shape)
        shape[axis] = len(range(shape[axis])[slice(start, end, step)]) if step > 0 else 0
    except IndexError:
        shape = list(x.shape)
    hold("slice_scatter", x, data.draw(sources(x, shape)), dim, start, end, step)


@given(st.data())
@SETTINGS
def test_select_scatter(data: st.DataObject) -> None:
    """Positions and dimensions negative and out of range, 0-dim, wrong shapes."""
    x = data.draw(tensors())
    dim, index = data.draw(st.integers(-4, 3)), data.draw(st.integers(-5, 4))
    shape = list(x.shape)
    if -x.ndim <= dim < x.ndim:
        del shape[dim]
    hold("select_scatter", x, data.draw(sources(x, shape)), dim, index)


@given(st.data())
@SETTINGS
def test_diagonal_scatter(data: st.DataObject) -> None:
    """Offsets beyond the edges, any pair of dimensions, the same one twice, out of range."""
    x = data.draw(tensors(least=1))
    offset, dim1, dim2 = data.draw(st.integers(-5, 5)), data.draw(st.integers(-3, 2)), data.draw(st.integers(-3, 2))
    try:
        shape = x.diagonal(offset, dim1, dim2).shape
    except (RuntimeError, IndexError):
        shape = x.shape
    hold("diagonal_scatter", x, data.draw(sources(x, shape)), offset, dim1, dim2)


@given(st.data())
@SETTINGS
def test_as_strided_scatter(data: st.DataObject) -> None:
    """Regions of any stride and start, beyond the memory, in inputs of any layout; elements do not share memory."""
    x = data.draw(tensors(least=1))
    count, offset = data.draw(st.integers(0, 2)), data.draw(st.none() | st.integers(-1, 12))
    size = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    stride = data.draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    if count == 2:
        touched = [i * stride[0] + j * stride[1] for i in range(size[0]) for j in range(size[1])]
        assume(len(set(touched)) == len(touched))
    hold("as_strided_scatter", x, data.draw(sources(x, size)), size, stride, offset)


@given(st.data())
@SETTINGS
def test_masked_fill(data: st.DataObject) -> None:
    """Masks that broadcast either way or not at all, numbers and 0-dim tensors as values."""
    x = data.draw(tensors())
    shape = [data.draw(st.sampled_from((1, n, n, 3))) for n in x.shape][data.draw(st.integers(0, 1)) :]
    mask = filled(data.draw(st.sampled_from((shape, [2, *shape]))), torch.bool, data.draw(st.sampled_from(LAYOUTS)))
    value = data.draw(st.sampled_from((0, -2, True, 1.5, 2 + 1j, torch.tensor(3), torch.tensor(2.5), torch.ones(1))))
    for name in ("masked_fill", "masked_scatter"):
        last = value if name == "masked_fill" else filled([40], data.draw(st.sampled_from((x.dtype, torch.int64))))
        hold(name, x, mask, last)


@pytest.mark.parametrize("strategy", ["where", "cat", "index-put"])
def test_source_of_slice_scatter_is_cast(strategy: str) -> None:
    """A float source is truncated into an integer input, by hand: 1.9 is 1, -1.9 is -1."""
    f = ops.spec("slice_scatter").strategies[strategy]
    got = f(torch.zeros(4, dtype=torch.int64), torch.tensor([1.9, -1.9]), 0, 1, 3)
    assert got.dtype == torch.int64
    assert got.tolist() == [0, 1, -1, 0]
