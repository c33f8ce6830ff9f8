"""A loop and its vectorised form: the same or not, in which element, and how fast."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from compilefix.recipes import check_vectorized
from compilefix.recipes.check_vectorized import VectorizedCheck

X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def loop(x: torch.Tensor) -> torch.Tensor:
    """Double row by row."""
    return torch.stack([row * 2 for row in x])


def kinds(check: VectorizedCheck) -> list[str]:
    """Return what differs, notes left out."""
    return [d.what for d in check.differences if not d.note]


def test_equal_functions() -> None:
    """Equal, with both times measured and their ratio; the result is frozen, and raising returns it."""
    check = check_vectorized(loop, lambda x: x * 2, (X,))
    assert check.equal
    assert check.differences == ()
    assert check.raised is None
    assert check.loop_seconds is not None
    assert check.vector_seconds is not None
    assert check.speedup == check.loop_seconds / check.vector_seconds
    assert str(check).startswith("equal, ")
    assert check.raise_if_different() is check
    with pytest.raises(dataclasses.FrozenInstanceError):
        check.equal = False  # type: ignore[misc]


def test_first_difference_in_words() -> None:
    """The first element that differs, both values, how many, and the worst; nothing is raised before asked for."""
    wrong = X * 2
    wrong[1, 0], wrong[2, 1] = 7.0, 20.0
    check = check_vectorized(loop, lambda x: wrong + 0 * x, [X])
    words = "different: values of result at [1, 0]: vectorised 7.0, loop 6.0, 2 of 6 elements, worst by 8 at [2, 1]"
    assert not check.equal
    assert check.differences[0].where == (1, 0)
    assert str(check) == words
    with pytest.raises(AssertionError) as raised:
        check.raise_if_different()
    assert str(raised.value) == words


def test_gradients_are_compared() -> None:
    """Values alone do not show a detached branch; without gradients it passes."""
    x = X.clone().requires_grad_()
    check = check_vectorized(lambda x: x * x, lambda x: x * x.detach(), (x,))
    assert kinds(check) == ["gradient"]
    assert check.differences[0].leaf == "grad of input[0]"
    assert check_vectorized(lambda x: x * x, lambda x: x * x.detach(), (x,), gradients=False).equal
    assert x.grad is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_functions_in_place_do_not_disturb_each_other(dtype: torch.dtype) -> None:
    """Every call has its own copies, and the sample stays."""

    def rows(x: torch.Tensor) -> torch.Tensor:
        for row in x:
            row.add_(1)
        return x * 1

    sample = (X.to(dtype, copy=True),)
    assert check_vectorized(rows, lambda x: x.add_(1) * 1, sample).equal
    assert torch.equal(sample[0], X.to(dtype))
    assert kinds(check_vectorized(rows, lambda x: x + 1, sample)) == ["mutation"]


def test_arguments_that_share_memory_do_so_in_the_copies() -> None:
    """A write through one is seen through the other."""
    base = X.clone()

    def shifts(x: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
        x.mul_(3)
        return view * 1

    assert check_vectorized(shifts, lambda x, view: x.mul_(3)[0] * 1, (base, base[0])).equal


def test_aliasing_counts_unless_ignored() -> None:
    """A view of the argument is not a new tensor."""
    copies: Callable[[torch.Tensor], torch.Tensor] = lambda x: torch.stack(list(x))  # noqa: E731
    assert kinds(check_vectorized(copies, lambda x: x, (X,))) == ["alias"]
    assert check_vectorized(copies, lambda x: x, (X,), ignore=("alias",)).equal


def test_rounding_is_no_difference_but_one_bad_element_is() -> None:
    """Another order of summation is excused by float64, one element in 60000 is not."""
    torch.manual_seed(0)
    x = torch.randn(3, 20_000) * 100

    def sums(x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(len(x), dtype=x.dtype)
        for column in x.split(10, dim=1):
            for part in column.unbind(1):
                total = total + part
        return total

    check = check_vectorized(sums, lambda x: x.sum(1), (x,), repeats=1)
    assert check.equal
    assert kinds(check_vectorized(lambda x: x * 1, lambda x: x + (x == x[1, 7]), (x,), repeats=1)) == ["values"]


def test_other_kinds_of_differences() -> None:
    """Containers, shapes, dtypes and NaN are told apart."""
    assert kinds(check_vectorized(lambda x: [row.sum() for row in x], lambda x: x.sum(1), (X,)))[0] == "structure"
    assert kinds(check_vectorized(loop, lambda x: (x * 2).double(), (X,))) == ["dtype"]
    assert kinds(check_vectorized(loop, lambda x: (x * 2)[:, :1], (X,))) == ["shape"]
    assert kinds(check_vectorized(loop, lambda x: (x * 2).log().exp() / (x != 3), (X,))) == ["inf"]


def test_exceptions_are_compared() -> None:
    """Different ends are a difference, the same end is said; nothing is timed then."""

    def fails(x: torch.Tensor) -> torch.Tensor:
        raise IndexError("row 3 of 3")

    check = check_vectorized(fails, loop, (X,))
    assert kinds(check) == ["exception"]
    assert "vectorised no exception, loop IndexError: row 3 of 3" in str(check)
    assert (check.loop_seconds, check.vector_seconds, check.speedup) == (None, None, None)
    check = check_vectorized(fails, fails, (X,))
    assert check.equal
    assert str(check) == "both raise IndexError: row 3 of 3"


def test_random_functions_see_the_same_numbers_and_the_caller_keeps_its_state() -> None:
    """Every call starts from the seed."""
    torch.manual_seed(5)
    random.seed(5)
    want = torch.rand(()), random.random()
    torch.manual_seed(5)
    random.seed(5)
    noisy: Callable[[torch.Tensor], torch.Tensor] = lambda x: x + torch.rand(3, 2)  # noqa: E731
    assert check_vectorized(noisy, noisy, (X,)).equal
    assert (torch.rand(()), random.random()) == want


def test_compiled_vector_function(compiled: Callable[..., Any]) -> None:
    """The vectorised form may be compiled; gradients are compared through it."""
    assert check_vectorized(loop, compiled(lambda x: x * 2), (X.clone().requires_grad_(),)).equal


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((loop, loop, X), {}, TypeError, r"sample must be the arguments in a tuple, not Tensor; write \(x,\) for one"),
        ((loop, 3, (X,)), {}, TypeError, "vector_fn must be a function, not int"),
        ((loop, loop, (X,)), {"repeats": 0}, ValueError, "repeats=0 must be at least 1"),
        ((loop, loop, (X.clone().requires_grad_() * 2,)), {}, ValueError, r"sample\[0\] is a result of autograd"),
    ],
)
def test_mistakes(arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str) -> None:
    """Each names what is wrong."""
    with pytest.raises(error, match=message):
        check_vectorized(*arguments, **options)
