"""Floor division by the remainder does what plain torch does, also where compiled upstream code does not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilefix import ops

NAMES = ("div", "div_", "floor_divide", "floor_divide_")
INF, NAN = float("inf"), float("nan")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.5, 3.0, 6.0, 0.2, -7.5, INF, -INF, NAN, 1e-38, 3e38, 1e-45]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8]


def keywords(name: str) -> dict[str, Any]:
    """Return what makes an op a floor division."""
    return {"rounding_mode": "floor"} if name.startswith("div") else {}


def outcome(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a call gives, or the type of what it raises."""
    try:
        return f(*args, **kwargs)
    except RuntimeError as error:
        return type(error)


def same(got: Any, want: Any) -> None:
    """Compare to the bit: dtype, NaN and the sign of zero count."""
    if isinstance(want, type) or isinstance(got, type):
        assert got is want
        return
    assert got.dtype == want.dtype
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    if want.is_floating_point():
        numbers = ~want.isnan()
        assert torch.equal(got.signbit() & numbers, want.signbit() & numbers)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_upstream(name: str) -> None:
    """For special values, mixed dtypes, numbers, and divisors of zero."""
    spec = ops.spec(name)
    number = st.one_of(st.sampled_from(SPECIAL), st.floats(-100, 100, width=32))

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.lists(number, min_size=1, max_size=4),
        st.one_of(number, st.integers(-3, 3), st.lists(number, min_size=1, max_size=1)),
        st.sampled_from(DTYPES),
        st.sampled_from(DTYPES),
    )
    def check(left: list[float], right: Any, one: torch.dtype, other: torch.dtype) -> None:
        a = torch.tensor(left, dtype=torch.float64).nan_to_num(0, 9, -9) if not one.is_floating_point else None
        a = torch.tensor(left).to(one) if a is None else a.clamp(-100, 100).to(one)
        b = right
        if isinstance(right, list):
            b = torch.tensor(right, dtype=torch.float64)
            b = b.to(other) if other.is_floating_point else b.nan_to_num(0, 9, -9).clamp(-100, 100).to(other)
        mine, theirs = a.clone(), a.clone()
        want = outcome(spec.upstream, theirs, b, **keywords(name))
        same(outcome(spec.strategies["remainder"], mine, b, **keywords(name)), want)
        same(mine, theirs)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_compiled_by_inductor(dtype: torch.dtype) -> None:
    """One over a tenth is 9 times, of either op, with a tensor and with a number."""
    x = torch.tensor([1.0, 6.0, -7.5, 0.5, 0.3, -0.3, 0.0]).to(dtype)
    y = torch.tensor([0.1, 0.2, 2.0, 0.1, 0.1, 0.1, 0.0]).to(dtype)

    def program(divide: Any, floor_divide: Any) -> tuple[torch.Tensor, ...]:
        return divide(x, y, rounding_mode="floor"), floor_divide(x, y), floor_divide(x, 0.1), divide(x, 0.1)

    mine = [ops.spec(n).strategies["remainder"] for n in ("div", "floor_divide")]
    torch._dynamo.reset()
    compiled = torch.compile(program, fullgraph=True)
    for got, want in zip(compiled(*mine), program(torch.div, torch.floor_divide), strict=True):
        same(got, want)


def test_an_integer_over_zero_is_an_error_in_compiled_code() -> None:
    """By a tensor and by a number, with either rounding."""
    for name, extra in (("div", {"rounding_mode": "trunc"}), ("div", {"rounding_mode": "floor"}), ("floor_divide", {})):
        for divisor in (torch.tensor([1, 0]), 0):
            torch._dynamo.reset()
            compiled = torch.compile(ops.spec(name).strategies["remainder"], backend="aot_eager", fullgraph=True)
            with pytest.raises(RuntimeError):
                compiled(torch.tensor([4, 5]), divisor, **extra)


def test_gradients_are_those_of_upstream() -> None:
    """Zero for a rounded quotient, upstream's for a true one, refused for ``floor_divide``."""
    x, y = (torch.tensor([1.0, 6.0], requires_grad=True) for _ in range(2))
    div = ops.spec("div").strategies["remainder"]
    got = torch.autograd.grad(div(x, y, rounding_mode="floor").sum(), (x, y))
    assert [g.tolist() for g in got] == [[0.0, 0.0], [0.0, 0.0]]
    assert torch.autograd.grad(div(x, 2).sum(), x)[0].tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="floor_divide"):
        ops.spec("floor_divide").strategies["remainder"](x, y).sum().backward()
    compiled = torch.compile(lambda z: torch.func.grad(lambda a: div(a, 0.1, rounding_mode="floor").sum())(z))
    torch._dynamo.reset()
    assert compiled(x.detach()).tolist() == [0.0, 0.0]


def test_dynamic_shapes_and_vmap() -> None:
    """One graph for two sizes, and a batch of both arguments."""
    op = ops.spec("floor_divide").strategies["remainder"]
    torch._dynamo.reset()
    compiled = torch.compile(op, backend="aot_eager", fullgraph=True, dynamic=True)
    for size in (3, 5):
        x = torch.arange(1.0, size + 1)
        same(compiled(x, 0.1), torch.floor_divide(x, 0.1))
    x, y = torch.arange(1.0, 7).reshape(2, 3), torch.tensor([[0.1], [0.2]])
    same(torch.vmap(op)(x, y), torch.floor_divide(x, y))
    whole = torch.tensor([[6], [4]])
    same(torch.vmap(op)(whole, whole - 3), torch.floor_divide(whole, whole - 3))
