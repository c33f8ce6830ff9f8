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
        assert isinstance(want, type) == isinstance(got, type), (got, want)
        return
    assert got.dtype == want.dtype
    assert got.shape == want.shape
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

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(calls(name))
    def check(call: Call) -> None:
        before = call.args[0].clone()
        want = outcome(spec.upstream, call)
        for strategy in own(name):
            same(outcome(spec.strategies[strategy], call), want)
            assert torch.equal(call.args[0], before)

    check()


I3, J3 = torch.tensor([2, 0]), torch.tensor([[2, 0, 1], [0, 1, 2]])


def plain_call(name: str, rows: int = 3, dtype: torch.dtype = torch.float64) -> Call:
    """Return a right call on an input of shape (rows, 3), without a position named twice."""
    x = torch.arange(1.0, 3 * rows + 1).reshape(rows, 3).to(dtype)
    src = torch.tensor([[5, -6, 7], [8, 9, 10]]).to(dtype)
    arguments: dict[str, tuple[Any, ...]] = {
        "gather": (x, 0, J3),
        "index_select": (x, -2, I3),
        "index_add": (x, 0, I3, src),
        "index_copy": (x, -2, I3, src),
        "index_fill": (x, 1, I3, -4),
        "index_put": (x, (torch.tensor([0, -1]), torch.tensor([1])), src[0, :2]),
        "scatter": (x, 0, J3, src),
        "scatter_add": (x, 0, J3, src),
        "scatter_reduce": (x, 0, J3, src, "mean"),
    }
    return Call(arguments[name.removesuffix("_")], {})


@pytest.mark.parametrize(("name", "strategy"), PAIRS + [(n, own(n)[-1]) for n in IN_PLACE])
def test_compiled_into_one_graph(name: str, strategy: str) -> None:
    """With fullgraph and dynamic shapes: what upstream's op gives plainly, for two sizes and two dtypes."""
    spec = ops.spec(name)
    torch._dynamo.reset()
    compiled = torch.compile(spec.strategies[strategy], backend="aot_eager", fullgraph=True, dynamic=True)
    for rows, dtype in ((3, torch.float64), (5, torch.float64), (4, torch.complex64)):
        if "reduce" in name and dtype.is_complex:
            continue
        got, want = plain_call(name, rows, dtype), plain_call(name, rows, dtype)
        same(compiled(*got.args), spec.upstream(*want.args))
        assert torch.equal(got.args[0], want.args[0])


def wrong_index(name: str, bad: int) -> Call:
    """Return the call of `plain_call` with one index out of range."""
    call = plain_call(name)
    args = list(call.args)
    args[2] = args[2].clone()
    args[2][(0,) * args[2].ndim] = bad
    return Call(tuple(args), {})


@pytest.mark.parametrize("bad", [-1, 3])
@pytest.mark.parametrize("name", ["gather", "index_select", "index_add", "index_copy"])
def test_an_index_out_of_range_is_an_error_in_compiled_code(name: str, bad: int) -> None:
    """Of the same type and with the same message as plainly, by every strategy."""
    spec = ops.spec(name)
    call = wrong_index(name, bad)
    with pytest.raises(MISUSES) as want:
        spec.upstream(*call.args)
    for strategy in own(name):
        torch._dynamo.reset()
        compiled = torch.compile(spec.strategies[strategy], backend="aot_eager", fullgraph=True)
        with pytest.raises(MISUSES) as got:
            compiled(*call.args)
        assert got.type is want.type
        assert str(got.value).splitlines()[0] in str(want.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gather", "index_select", "index_add", "index_copy"])
def test_no_pass_of_inductor_drops_the_check(name: str) -> None:
    """Even where the result is not used; upstream's own op takes a negative index in most of them."""
    spec = ops.spec(name)
    call = wrong_index(name, -1)
    first = own(name)[0]

    def program(*args: Any) -> Tensor:
        return spec.strategies[first](*args) * 2

    torch._dynamo.reset()
    with pytest.raises(IndexError if name in ("index_select", "index_copy") else RuntimeError):
        torch.compile(program, fullgraph=True)(*call.args)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("index_add", {3: torch.ones(2, 1, dtype=torch.float64)}),
        ("index_add", {3: torch.ones(2, dtype=torch.float64)}),
        ("index_add", {3: torch.ones(2, 3)}),
        ("index_add", {2: torch.tensor([2.0, 0.0])}),
        ("index_copy", {3: torch.ones(2, 3)}),
        ("index_copy", {3: torch.ones(2, 1, dtype=torch.float64)}),
        ("index_copy", {3: torch.ones(1, 3, dtype=torch.float64)}),
        ("index_copy", {2: I3.int()}),
        ("index_fill", {2: I3.int()}),
        ("index_fill", {3: 1j}),
        ("index_fill", {3: torch.ones(2)}),
        ("index_put", {2: torch.ones(2)}),
        ("scatter", {2: J3.float()}),
        ("scatter", {3: torch.ones(1, 3, dtype=torch.float64)}),
        ("scatter_add", {3: torch.ones(2, 3)}),
        ("scatter_reduce", {4: "median"}),
    ],
)
def test_a_wrong_shape_or_dtype_is_an_error_in_compiled_code(name: str, changed: dict[int, Any]) -> None:
    """As it is plainly, in both forms; the strategies between share the check of the first."""
    args = tuple(changed.get(i, a) for i, a in enumerate(plain_call(name).args))
    for op in (name, f"{name}_"):
        spec = ops.spec(op)
        with pytest.raises(MISUSES):
            spec.upstream(*args)
        for strategy in (own(op)[0], own(op)[-1]) if op == name else own(op)[:1]:
            torch._dynamo.reset()
            with pytest.raises(MISUSES):
                torch.compile(spec.strategies[strategy], backend="aot_eager", fullgraph=True)(*args)


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_reduce"])
def test_an_index_without_elements_may_have_any_dtype(name: str) -> None:
    """As outside of compiled code, where nothing is written then."""
    spec = ops.spec(name)
    x = torch.ones(2, 3)
    args = (x, 1, torch.ones(2, 0), torch.ones(2, 4), *(("sum",) if name == "scatter_reduce" else ()))
    for strategy in own(name):
        torch._dynamo.reset()
        compiled = torch.compile(spec.strategies[strategy], backend="aot_eager", fullgraph=True)
        same(compiled(*args), spec.upstream(*args))


@pytest.mark.parametrize(("name", "strategy"), PAIRS)
def test_vmap(name: str, strategy: str) -> None:
    """Over the input and over the source, plainly and in compiled code."""
    spec = ops.spec(name)
    call = plain_call(name)
    x, *rest = call.args
    batch = torch.stack([x, x * 2])

    def over_input(f: Callable[..., Tensor]) -> Tensor:
        return torch.vmap(lambda one: f(one, *rest))(batch)

    def over_index(f: Callable[..., Tensor]) -> Tensor:
        index = torch.stack([rest[1], rest[1].flip(0)])
        return torch.vmap(lambda one: f(x, rest[0], one, *rest[2:]))(index)

    for mapped in (over_input,) if name == "index_put" else (over_input, over_index):
        want = mapped(spec.upstream)
        same(mapped(spec.strategies[strategy]), want)
    torch._dynamo.reset()
    same(torch.compile(mapped, backend="aot_eager", fullgraph=True)(spec.strategies[strategy]), want)


def tensors(name: str) -> list[int]:
    """Return the positions of the arguments that take a gradient."""
    return [i for i, a in enumerate(plain_call(name).args) if isinstance(a, Tensor) and a.is_floating_point()]


@pytest.mark.parametrize(("name", "strategy"), PAIRS)
def test_gradients(name: str, strategy: str) -> None:
    """First and second derivatives are right, `torch.func.grad` and ``jvp`` give upstream's, compiled as well."""
    spec = ops.spec(name)
    args = list(plain_call(name).args)
    places = tensors(name)

    def f(op: Callable[..., Tensor], *given: Tensor) -> Tensor:
        full = list(args)
        for i, tensor in zip(places, given, strict=True):
            full[i] = tensor
        return op(*full)

    given = [args[i].clone().requires_grad_() for i in places]
    own_op = spec.strategies[strategy]
    assert torch.autograd.gradcheck(lambda *g: f(own_op, *g), given)
    assert torch.autograd.gradgradcheck(lambda *g: f(own_op, *g) ** 2, given)
    plain = [g.detach() for g in given]
    argnums = tuple(range(len(plain)))

    def derivatives(op: Callable[..., Tensor]) -> tuple[Any, ...]:
        first = torch.func.grad(lambda *g: (f(op, *g) ** 2).sum(), argnums)(*plain)
        return (*first, torch.func.jvp(lambda *g: f(op, *g), tuple(plain), tuple(plain))[1])

    torch._dynamo.reset()
    compiled = torch.compile(derivatives, backend="aot_eager", fullgraph=True)
    for got in (derivatives(own_op), compiled(own_op)):
        for one, other in zip(got, derivatives(spec.upstream), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("name", "strategy"), TWINS)
def test_in_place_twins(name: str, strategy: str) -> None:
    """They write into their first argument, return it, and refuse a leaf that requires a gradient."""
    spec = ops.spec(name)
    op = spec.strategies[strategy]
    call, want = plain_call(name), plain_call(name)
    assert op(*call.args) is call.args[0]
    spec.upstream(*want.args)
    assert torch.equal(call.args[0], want.args[0])
    leaf = call.args[0].clone().requires_grad_()
    for refused in (op, spec.upstream, torch.compile(op, backend="aot_eager")):
        torch._dynamo.reset()
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            refused(leaf, *call.args[1:])


@pytest.mark.parametrize(("name", "strategy"), PAIRS)
def test_meta_tensors(name: str, strategy: str) -> None:
    """Shapes and dtypes come out without data."""
    spec = ops.spec(name)
    call = plain_call(name)

    def on_meta(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(on_meta(v) for v in value)
        return value.to("meta") if isinstance(value, Tensor) else value

    got = spec.strategies[strategy](*(on_meta(a) for a in call.args))
    want = spec.upstream(*call.args)
    assert (got.device.type, got.shape, got.dtype) == ("meta", want.shape, want.dtype)
