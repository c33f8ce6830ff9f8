"""Several values for one place: told, and only where they differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from compilefix.validation import DuplicateIndexWarning, IndexFault, validate
from tests.validation.calls import faults, t, x

nan = float("nan")

CONFLICTS: dict[str, tuple[Callable[[], Any], str]] = {
    "scatter": (
        lambda: x().scatter(1, t([0, 3, 3], [3, 3, 0]), t([1.0, 2.0, 3.0], [5.0, 5.0, 6.0])),
        "scatter: index[0, 1] and index[0, 2] write different values to input[0, 3] of (4, 5)"
        "; which one stays is undefined",
    ),
    "scatter along dim 0": (
        lambda: x().scatter_(0, t([2, 2], [1, 2], [0, 2]), t([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])),
        "scatter_: index[0, 1] and index[1, 1] write different values to input[2, 1] of (4, 5)"
        ", and 1 more such writes; which one stays is undefined",
    ),
    "index_copy": (
        lambda: x().index_copy(1, t(4, 0, 4), x(4, 3)),
        "index_copy: index[0] and index[2] write different values to input[:, 4] of (4, 5)"
        "; which one stays is undefined",
    ),
    "index_put": (
        lambda: x().index_put((t(1, -3), t(2, 2)), t(1.0, 2.0)),
        "index_put: indices[0] and indices[1] write different values to input[1, 2] of (4, 5)"
        "; which one stays is undefined",
    ),
    "assignment": (
        lambda: x(2, 3, 4).__setitem__((slice(None), t(0, -3), slice(1, 3)), x(2, 2, 2)),
        "x[...] = v: index[1][0] and index[1][1] write different values to input[:, 0] of (2, 3, 4)"
        "; which one stays is undefined",
    ),
}

EQUAL: dict[str, Callable[[], Any]] = {
    "scatter": lambda: x().scatter(1, t([3, 3]), t([7.0, 7.0])),
    "scatter of a number": lambda: x().scatter(1, t([3, 3]), 1.0),
    "scatter that adds": lambda: x().scatter_add(1, t([3, 3]), t([1.0, 2.0])),
    "NaN": lambda: x().index_copy(1, t(3, 3), torch.full((4, 2), nan)),
    "assignment of a row": lambda: x().__setitem__(t(1, 1), x(5)),
    "assignment of one value": lambda: x().__setitem__(t(1, 1), 2.0),
    "accumulated": lambda: x().index_put((t(1, 1),), x(2, 5), accumulate=True),
    "other columns": lambda: x().scatter(0, t([1, 1]), t([1.0, 2.0])),
    "mask": lambda: x().__setitem__(x() > 3, x(16)),
}


@pytest.mark.parametrize(("call", "line"), CONFLICTS.values(), ids=CONFLICTS)
def test_different_values_for_one_place(call: Callable[[], Any], line: str) -> None:
    """An error, a warning or nothing, as the caller wants."""
    assert faults(call, "error") == (line,)
    assert faults(call, "ignore") == ()
    with validate(), pytest.warns(DuplicateIndexWarning) as caught:
        call()
    assert str(caught[0].message) == line
    assert caught[0].filename == __file__


@pytest.mark.parametrize("call", EQUAL.values(), ids=EQUAL)
def test_equal_values_and_reductions_are_fine(call: Callable[[], Any]) -> None:
    """The result is defined, so nothing is said."""
    assert faults(call, "error") == ()


def test_a_call_site_is_warned_of_once() -> None:
    """A loop does not repeat itself, another line has its own warning, and so has the next activation."""
    call = CONFLICTS["index_copy"][0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with validate():
                for _ in range(3):
                    call()
                x().index_copy(0, t(1, 1), x(2, 5))
    assert len(caught) == 4


def test_a_policy_that_does_not_exist() -> None:
    """One line says which ones do."""
    with pytest.raises(ValueError, match=r"^duplicates='raise' must be one of 'warn', 'error', 'ignore'$"):
        validate(duplicates="raise")


def test_out_of_range_comes_before_duplicates() -> None:
    """No place is named that does not exist."""
    with validate("error"), pytest.raises(IndexFault, match="outside") as caught:
        x().index_copy(0, t(4, 4), x(2, 5))
    assert len(caught.value.faults) == 1
