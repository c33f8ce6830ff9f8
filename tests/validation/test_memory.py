"""What is written in place: leaves, expanded targets, sources in the same memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from compilefix.validation import validate
from tests.validation.calls import faults, raises, t, x


def expanded() -> torch.Tensor:
    """Return one row, seen four times."""
    return x(1, 5).expand(4, 5)


def aliased(write: Callable[[torch.Tensor], Any]) -> Callable[[], Any]:
    """Return a call that writes into a tensor and reads from it."""
    return lambda: write(x())


LINE = "dim 0 of input (4, 5) is expanded, its 4 elements are one place in memory"
SHARED = "shares memory with input (4, 5), which is written in place"

EXPANDED: dict[str, tuple[Callable[[], Any], bool]] = {
    "scatter_": (lambda: expanded().scatter_(0, t([1]), 1.0), True),
    "index_add_": (lambda: expanded().index_add_(0, t(1), x(1, 5)), True),
    "index_copy_": (lambda: expanded().index_copy_(0, t(1), x(1, 5)), True),
    "index_fill_": (lambda: expanded().index_fill_(0, t(1), 1.0), False),
    "index_put_": (lambda: expanded().index_put_((t(1),), x(5)), False),
    "masked_fill_": (lambda: expanded().masked_fill_(x() > 3, 1.0), False),
    "masked_scatter_": (lambda: expanded().masked_scatter_(x() > 3, x()), True),
    "x[...] = v": (lambda: expanded().__setitem__(t(1), 1.0), False),
}

SHARING: dict[str, tuple[Callable[[], Any], str]] = {
    "scatter_": (aliased(lambda y: y.scatter_(0, t([1] * 5), y[:1])), "src (1, 5)"),
    "index_add_": (aliased(lambda y: y.index_add_(0, t(1), y[3:])), "source (1, 5)"),
    "index_copy_": (aliased(lambda y: y.index_copy_(0, t(1), y[3:])), "source (1, 5)"),
    "index_put_": (aliased(lambda y: y.index_put_((t(1),), y[3])), "values (5,)"),
    "x[...] = v": (aliased(lambda y: y.__setitem__(t(1), y[3])), "value (5,)"),
}


@pytest.mark.parametrize(("name", "case"), EXPANDED.items(), ids=EXPANDED)
@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
def test_an_expanded_target(name: str, case: tuple[Callable[[], Any], bool]) -> None:
    """Named for every operator, where torch refuses some and writes all four rows with others."""
    call, refused = case
    assert faults(call) == (f"{name}: {LINE}",)
    assert raises(call) is refused


@pytest.mark.parametrize(("name", "case"), SHARING.items(), ids=SHARING)
def test_a_source_in_the_written_memory(name: str, case: tuple[Callable[[], Any], str]) -> None:
    """Named with the shape of the source."""
    assert faults(case[0]) == (f"{name}: {case[1]} {SHARED}",)
    assert raises(case[0])


def test_masked_scatter_from_its_own_target() -> None:
    """Torch accepts this; what is read depends on what was written before."""
    assert faults(aliased(lambda y: y.masked_scatter_(y > 3, y))) == (f"masked_scatter_: source (4, 5) {SHARED}",)


def test_an_index_in_the_written_memory() -> None:
    """The index would change under the loop."""
    index = t(0, 1, 2)
    assert faults(lambda: index.index_copy_(0, index, t(5, 6, 7))) == (
        "index_copy_: index (3,) shares memory with input (3,), which is written in place",
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.index_copy(0, t(1), y[3:]),
        lambda y: y.__setitem__(slice(0, 2), y[2:]),
        lambda y: y.__setitem__((0, t(1, 2)), y[1, :2]),
        lambda y: y.__setitem__(y > 3, y[0, 0]),
        lambda y: y.masked_fill_(y > 3, y[0, 0]),
        lambda y: y.index_fill_(0, t(1), y[1, 1]),
        lambda y: y[:, ::2].index_copy_(1, t(0), y[:, 1:2]),
        lambda y: y[:2].scatter_(0, t([1]), y[2:]),
    ],
)
def test_memory_that_is_shared_rightly(write: Callable[[torch.Tensor], Any]) -> None:
    """Copies, other rows, the columns in between and single values that are read first."""
    assert faults(aliased(write), "error") == ()
    assert not raises(aliased(write))


def test_a_leaf_that_requires_grad() -> None:
    """Named, with its view; fine without grad and out of place."""
    leaf = x().clone().requires_grad_()
    calls = [lambda: leaf.index_fill_(0, t(1), 2.0), lambda: leaf[1:].masked_fill_(leaf[1:] > 3, 2.0)]
    assert [faults(call) for call in calls] == [
        ("index_fill_: input (4, 5) is a leaf that requires grad, it cannot be written in place",),
        ("masked_fill_: input (3, 5) is a view of a leaf (4, 5) that requires grad, it cannot be written in place",),
    ]
    assert all(map(raises, calls))
    with validate(), torch.no_grad():
        leaf.index_fill_(0, t(1), 2.0)
    with validate():
        (leaf * 1).index_fill_(0, t(1), 2.0)
        leaf.index_fill(0, t(1), 2.0)
    assert leaf[1].tolist() == [2.0] * 5
