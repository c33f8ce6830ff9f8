"""``compilefix.testing``: healthy code passes, every facet of a difference fails."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._inductor import config

from compilefix.errors import UsageError
from compilefix.testing import assert_compiled_matches

pytestmark = pytest.mark.slow


@pytest.fixture
def wrong_relu() -> Iterator[None]:
    """Inductor's own planted defect: relu adds one."""
    with config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}):
        yield


def total(x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
    return (x.relu() * scale).sum(-1)


def test_healthy_functions_and_modules_pass() -> None:
    x = torch.randn(4, 8, requires_grad=True)
    assert_compiled_matches(total, x, scale=2.0, targets=("aot_eager", "inductor"))
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Dropout(0.5))
    assert_compiled_matches(model, x)
    assert x.grad is None
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.usefixtures("wrong_relu")
def test_a_wrong_value_and_its_gradient_are_named() -> None:
    with pytest.raises(AssertionError, match="compiled for inductor") as caught:
        assert_compiled_matches(total, torch.randn(4, 8, requires_grad=True))
    assert "values of result, call 0" in str(caught.value)
    assert_compiled_matches(total, torch.randn(4, 8), targets=("aot_eager",))


@pytest.mark.usefixtures("wrong_relu")
def test_a_suite_whose_warnings_are_errors_still_compares_values() -> None:
    """A warning ends neither run, so that it cannot stand for what is compared; the suite's filters are left alone."""

    def program(x: torch.Tensor) -> torch.Tensor:
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        return x.relu()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        with pytest.raises(AssertionError, match="values of result, call 0"):
            assert_compiled_matches(program, torch.randn(4, 8))
        assert warnings.filters == before
        with pytest.raises(DeprecationWarning):
            program(torch.ones(1))


def test_arguments_are_left_alone_and_writes_into_them_are_compared() -> None:
    def fill(x: torch.Tensor) -> None:
        x.fill_(1.0)

    x = torch.zeros(3)
    assert_compiled_matches(fill, x)
    assert x.tolist() == [0.0] * 3


def test_the_second_call_counts() -> None:
    calls: list[int] = []

    def program(x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            calls.append(1)
        return x * (2.0 if torch.compiler.is_compiling() else 1.0)

    with pytest.raises(AssertionError, match="values of result, call 1"):
        assert_compiled_matches(program, torch.ones(2), targets=("aot_eager",))
    assert len(calls) >= 4


def test_an_exception_is_what_is_expected_where_plain_code_raises_it() -> None:
    def refuses(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(7)

    assert_compiled_matches(refuses, torch.ones(3), targets=("aot_eager",))

    def once(x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            return x
        raise ValueError("plain code does not take this")

    with pytest.raises(AssertionError, match="exception of call 0"):
        assert_compiled_matches(once, torch.ones(3), targets=("aot_eager",))


def test_functions_that_differ_from_themselves_are_no_verdict() -> None:
    values = iter(range(1000))

    def other(x: torch.Tensor) -> torch.Tensor:
        return x + next(values)

    with pytest.raises(AssertionError, match="two plain runs differ"):
        assert_compiled_matches(other, torch.ones(3), targets=("aot_eager",))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (("inductor:cuda-interpreted",), "needs a process of its own"),
        (("reference",), "compiles nothing"),
        (("nonsense",), "nonsense"),
    ],
)
def test_targets_that_cannot_be_are_said(targets: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        assert_compiled_matches(total, torch.ones(2, 2), targets=targets)


def test_arguments_in_containers_share_memory_as_the_originals_do() -> None:
    def program(pair: dict[str, Any]) -> torch.Tensor:
        pair["a"].add_(1.0)
        return pair["b"] * 2.0

    base = torch.zeros(4)
    assert_compiled_matches(program, {"a": base, "b": base[1:]}, targets=("aot_eager",))
