"""The scatter and index families do what torch's own ops do, and refuse what those refuse, by every strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilefix import ops

Tensor = torch.Tensor
SCATTERS = ("scatter", "scatter_add", "scatter_reduce")
SLICES = ("index_add", "index_copy", "index_fill")
NAMES = ("gather", "index_put", "index_select", *SCATTERS, *SLICES)
IN_PLACE = tuple(f"{name}_" for name in NAMES if name not in ("gather", "index_select"))
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16, torch.uint8)
MISUSES = (RuntimeError, IndexError, NotImplementedError)


def own(name: str) -> list[str]:
    """Return the strategies of an op that stay in the graph."""
    return [s for s in ops.strategies(name) if s not in ("plain", "disable")]


PAIRS = [(name, strategy) for name in NAMES for strategy in own(name)]
TWINS = [(name, strategy) for name in IN_PLACE for strategy in own(name)]


@dataclass
class Call:
    """Arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def outcome(f: Callable[..., Any], call: Call) -> Any:
    """Return what a call gives, or the type of what it raises."""
    try:
        return f(*call.args, **call.kwargs)
    except MISUSES as error:
        return type(error)


def same(got: Any, want: Any) -> None:
    """Compare two outcomes; which of `MISUSES` a misuse raises differs between torch's own kernels as well."""
    if isinstance(want, type) or isinstance(got, type):
        assert isinstance(want, type) and isinstance(got, type), (got, want)
        return
    assert got.dtype == want.dtype and got.shape == want.shape
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


def values(draw: st.DrawFn, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Draw a tensor of small whole numbers (so that sums are exact), laid out in one of three manners."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    layout = draw(st.sampled_from(["dense", "reversed", "strided", "expanded"]))
    if layout == "reversed":
        raw = torch.randint(0, 4, shape[::-1], generator=generator).permute(tuple(range(len(shape)))[::-1])
    elif layout == "strided" and shape:
        raw = torch.randint(0, 4, (*shape[:-1], 2 * shape[-1]), generator=generator)[..., ::2]
    elif layout == "expanded" and shape:
        raw = torch.randint(0, 4, (1, *shape[1:]), generator=generator)
        return raw.to(dtype).expand(shape)
    else:
        raw = torch.randint(0, 4, shape, generator=generator)
    return raw.to(dtype)


def distinct(draw: st.DrawFn, count: int, size: int) -> Tensor:
    """Draw `count` indices, distinct where that is possible, out of range now and then."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    low = draw(st.sampled_from([0, 0, 0, 0, -1]))
    high = size + draw(st.sampled_from([0, 0, 0, 0, 1]))
    return (torch.randperm(max(high - low, count), generator=generator) + low)[:count]


def bad(draw: st.DrawFn) -> bool:
    """Draw whether to make a certain mistake: one in ten."""
    return draw(st.integers(0, 9)) == 9


@st.composite
def slices(draw: st.DrawFn, name: str) -> Call:
    """Draw arguments of an op that takes a vector of indices along a dimension."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    rank = max(len(shape), 1)
    dim = draw(st.integers(-rank - bad(draw), rank - 1))
    size = shape[dim % rank] if shape else 1
    count = draw(st.integers(0, size))
    index = distinct(draw, count, size).to(torch.int32 if bad(draw) else torch.int64)
    if bad(draw):
        index = index.float() if draw(st.booleans()) else index[None]
    elif index.numel() == 1 and draw(st.booleans()):
        index = index[0]
    input = values(draw, shape, dtype)
    if name == "index_select":
        return Call((input, dim, index), {})
    if name == "index_fill":
        number = draw(st.sampled_from([0, 3, True, 2.0, 1j])) if bad(draw) else 1
        value = values(draw, (2,) if bad(draw) else (), dtype) if draw(st.booleans()) else number
        return Call((input, dim, index, value), {})
    wide = [*shape[: dim % rank], count, *shape[dim % rank + 1 :]] if shape else [count][: draw(st.integers(0, 1))]
    if bad(draw) and wide:
        wide[draw(st.integers(0, len(wide) - 1))] = 1
    if bad(draw) and wide:
        wide.pop()
    source = values(draw, tuple(wide), torch.float64 if bad(draw) else dtype)
    alpha = draw(st.sampled_from([1, 1, 1, 2, 2.0])) if name == "index_add" else 1
    return Call((input, dim, index, source), {} if alpha == 1 else {"alpha": alpha})


@st.composite
def scatters(draw: st.DrawFn, name: str) -> Call:
    """Draw arguments of an op whose index has the rank of its input."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    rank = max(len(shape), 1)
    dim = draw(st.integers(-rank - bad(draw), rank - 1))
    position = dim % rank
    small = [draw(st.integers(0, n)) for n in shape]
    if bad(draw) and small:
        small[draw(st.integers(0, len(small) - 1))] += 1
    index = torch.zeros(small, dtype=torch.int64)
    if small:
        along = [1] * len(small)
        along[position] = small[position]
        index = index + distinct(draw, small[position], shape[position]).reshape(along)
    if bad(draw):
        index = draw(st.sampled_from([index.float(), index[None], index.to(torch.int16), index.to(torch.int32)]))
    input = values(draw, shape, dtype)
    if name == "gather":
        return Call((input, dim, index), {})
    larger = tuple(n + draw(st.integers(0, 1)) for n in small)
    src: Any = values(draw, larger, torch.float64 if bad(draw) else dtype)
    if name == "scatter":
        if draw(st.booleans()):
            return Call((input, dim, index), {"value": draw(st.sampled_from([0, 1, True, 2.5]))})
        reduce = draw(st.sampled_from([None, None, "add", "multiply", "mean"]))
        return Call((input, dim, index, src), {} if reduce is None else {"reduce": reduce})
    if name == "scatter_add":
        return Call((input, dim, index, src), {})
    reduce = draw(st.sampled_from(["sum", "prod", "mean", "amax", "amin", "add"]))
    return Call((input, dim, index, src, reduce), {"include_self": draw(st.booleans())})


@st.composite
def puts(draw: st.DrawFn) -> Call:
    """Draw arguments of ``index_put``: integers that broadcast, masks, and values that broadcast."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    input = values(draw, shape, dtype)
    if draw(st.booleans()):
        rank = draw(st.integers(1, len(shape)))
        masked = shape[:rank] if not bad(draw) else (*shape[: rank - 1], shape[rank - 1] + 1)
        indices: tuple[Tensor, ...] = (values(draw, masked, torch.bool),)
    else:
        count = draw(st.integers(0, min(shape)))
        used = draw(st.integers(1, len(shape)))
        integers = [distinct(draw, count, n).to(torch.int32 if bad(draw) else torch.int64) for n in shape[:used]]
        if used > 1 and draw(st.booleans()):
            integers[1] = integers[1][:1]
        if bad(draw):
            integers[0] = integers[0].float()
        indices = tuple(integers)
    region = outcome(lambda x, i: x[i].shape, Call((input, indices), {}))
    target = () if isinstance(region, type) or bad(draw) else tuple(region)
    target = target[draw(st.integers(0, len(target))) :]
    source = values(draw, target, torch.float64 if bad(draw) else dtype)
    return Call((input, indices, source), {"accumulate": True} if draw(st.booleans()) else {})


def calls(name: str) -> st.SearchStrategy[Call]:
    """Return the strategy that draws the arguments of one op."""
    if name == "index_put":
        return puts()
    return scatters(name) if name in SCATTERS or name == "gather" else slices(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_is_upstream(name: str) -> None:
    """Values, shapes, dtypes and the types of errors; the arguments stay as they were."""
    spec = ops.spec(name)

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(calls(name))
    def check(call: Call) -> None:
        before = call.args[0].clone()
        want = outcome(spec.upstream, call)
        for strategy in own(name):
            same(outcome(spec.strategies[strategy], call), want)
            assert torch.equal(call.args[0], before)

    check()
