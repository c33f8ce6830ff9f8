"""Mean and weighted sum by slot, and one-hot vectors, against loops over entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from compilefix.recipes import one_hot_scatter, scatter_mean, weighted_scatter_add

INDEX = torch.tensor([2, 0, 2, 2, 4])


def naive_mean(src: torch.Tensor, index: torch.Tensor, size: int) -> torch.Tensor:
    """Collect the entries of each slot along dimension 0 and average them."""
    slots = [[src[e] for e in range(len(index)) if index[e] == slot] for slot in range(size)]
    return torch.stack([torch.stack(s).mean(0) if s else src.new_zeros(src.shape[1:]) for s in slots])


def naive_sum(src: torch.Tensor, index: torch.Tensor, weight: torch.Tensor, size: int) -> torch.Tensor:
    """Add entry by entry along dimension 0."""
    slots = [src.new_zeros(src.shape[1:]) for _ in range(size)]
    for e, slot in enumerate(index.tolist()):
        factor = weight[e]
        slots[slot] = slots[slot] + src[e] * factor.reshape(factor.shape + (1,) * (src.ndim - weight.ndim))
    return torch.stack(slots)


@settings(deadline=None)
@given(
    slots=st.lists(st.integers(0, 4), max_size=8),
    features=st.integers(0, 3),
    spare=st.integers(0, 2),
    named=st.booleans(),
    index_dtype=st.sampled_from([torch.int64, torch.int32, torch.uint8]),
)
def test_mean_as_a_loop(slots: list[int], features: int, spare: int, named: bool, index_dtype: torch.dtype) -> None:
    """Any number of entries, also none, empty slots, and the size from the index or by name."""
    index = torch.tensor(slots, dtype=index_dtype)
    size = max(slots, default=-1) + 1 + (spare if named else 0)
    src = torch.arange(len(slots) * features, dtype=torch.float64).reshape(len(slots), features) - 3
    got = scatter_mean(src, index, dim_size=size if named else None)
    want = naive_mean(src, index, size) if size else src.new_zeros(0, features)
    torch.testing.assert_close(got, want)


def test_mean_by_hand() -> None:
    """One entry stays itself (no count + 1), integers round down, and an index of the shape of `src` works."""
    assert scatter_mean(torch.tensor([8.0, 2.0, 4.0]), torch.tensor([3, 0, 0])).tolist() == [3.0, 0.0, 0.0, 8.0]
    assert scatter_mean(torch.tensor([-1, 0, 7, 2]), torch.tensor([0, 0, 1, 1])).tolist() == [-1, 4]
    src, index = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0, 1], [0, 0]])
    assert scatter_mean(src, index, dim=0, dim_size=2).tolist() == [[2.0, 4.0], [0.0, 2.0]]
    assert scatter_mean(src, torch.tensor([1, 1]), dim=-1).tolist() == [[0.0, 1.5], [0.0, 3.5]]


def test_mean_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """A slot's gradient is shared by its entries."""
    src = torch.arange(10.0).reshape(5, 2).square().requires_grad_()
    holds(lambda s, i: scatter_mean(s, i, dim_size=6), lambda s, i: naive_mean(s, i, 6), src, INDEX)


def test_integer_mean_compiled(compiled: Callable[..., Any]) -> None:
    """Rounds down as in plain code."""
    got = compiled(lambda s, i: scatter_mean(s, i, dim_size=3))(torch.tensor([-1, 0, 7, 2]), torch.tensor([0, 0, 2, 2]))
    assert got.tolist() == [-1, 0, 4]


@pytest.mark.parametrize("weight_shape", [(5,), (5, 2), (5, 2, 3)])
def test_weighted_sum_with_gradients(weight_shape: tuple[int, ...]) -> None:
    """A weight an edge, a head, an element; gradients to source and weight."""
    src = torch.arange(30.0, dtype=torch.float64).reshape(5, 2, 3).requires_grad_()
    weight = (torch.arange(float(torch.Size(weight_shape).numel()), dtype=torch.float64) - 2.5).reshape(weight_shape)
    weight.requires_grad_()
    got, want = weighted_scatter_add(src, INDEX, weight, dim_size=6), naive_sum(src, INDEX, weight, 6)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(
        torch.autograd.grad(got.square().sum(), (src, weight)), torch.autograd.grad(want.square().sum(), (src, weight))
    )


def test_weighted_sum_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """Message passing in one graph."""
    src = torch.arange(10.0).reshape(5, 2).cos().requires_grad_()
    weight = torch.tensor([1.0, -2.0, 0.5, 3.0, 0.0]).requires_grad_()
    holds(
        lambda s, i, w: weighted_scatter_add(s, i, w, dim_size=5),
        lambda s, i, w: naive_sum(s, i, w, 5),
        src,
        INDEX,
        weight,
    )


def test_weighted_sum_along_another_dimension() -> None:
    """Feature maps with edges in the last dimension, the size from the index, and types promoted."""
    got = weighted_scatter_add(
        torch.tensor([[1, 2, 3]]), torch.tensor([1, 1, 0]), torch.tensor([0.5, 1.0, 2.0]), dim=-1
    )
    assert got.tolist() == [[6.0, 2.5]]
    assert got.dtype is torch.float32
    assert weighted_scatter_add(torch.ones(0, 2), torch.ones(0).long(), torch.ones(0)).shape == (0, 2)


@settings(deadline=None)
@given(
    index=st.lists(st.integers(0, 3) | st.just(-100), max_size=6),
    dtype=st.sampled_from([torch.float32, torch.float16, torch.int64, torch.bool]),
    ignore=st.booleans(),
)
def test_one_hot_as_a_loop(index: list[int], dtype: torch.dtype, ignore: bool) -> None:
    """Each row by hand; what is ignored is all off."""
    index = index if ignore else [i for i in index if i >= 0]
    want = [[c == i for c in range(4)] for i in index]
    got = one_hot_scatter(torch.tensor(index, dtype=torch.long), 4, dtype, ignore_index=-100 if ignore else None)
    assert got.dtype is dtype
    assert got.shape == (len(index), 4)
    assert got.bool().tolist() == want


def test_one_hot_by_hand() -> None:
    """Label smoothing over a batch of two dimensions, and an ignored class within range."""
    got = one_hot_scatter(torch.tensor([[1, 0]], dtype=torch.int32), 2, on_value=0.75, off_value=0.25)
    assert got.tolist() == [[[0.25, 0.75], [0.75, 0.25]]]
    got = one_hot_scatter(torch.tensor([0, 1]), 2, torch.int8, on_value=5, off_value=-5, ignore_index=0)
    assert got.tolist() == [[-5, -5], [-5, 5]]
    assert one_hot_scatter(torch.tensor(2), 3).tolist() == [0.0, 0.0, 1.0]
    with pytest.raises((RuntimeError, IndexError)):
        one_hot_scatter(torch.tensor([3]), 3)


def test_one_hot_compiled(compiled: Callable[..., Any]) -> None:
    """With an index that is ignored."""
    function = compiled(lambda i: one_hot_scatter(i, 3, on_value=0.9, off_value=0.05, ignore_index=-100))
    want = [[0.05, 0.05, 0.9], [0.05, 0.05, 0.05], [0.9, 0.05, 0.05]]
    torch.testing.assert_close(function(torch.tensor([2, -100, 0])), torch.tensor(want))


SRC = torch.ones(3, 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: scatter_mean([1.0], INDEX), TypeError, "src must be a tensor, not list"),
        (lambda: scatter_mean(SRC > 0, INDEX), TypeError, "src has dtype torch.bool, which has no mean"),
        (lambda: scatter_mean(SRC, torch.ones(3)), TypeError, "index must have an integer dtype, not torch.float32"),
        (lambda: scatter_mean(SRC, INDEX), ValueError, r"index has shape \(5,\): expected \(3,\).* \(3, 2\)"),
        (lambda: scatter_mean(SRC, INDEX[:3], dim=2), ValueError, "dim=2 does not exist: src has 2 dimensions"),
        (lambda: scatter_mean(SRC, INDEX[:3], dim_size=-1), ValueError, "dim_size=-1 must be at least 0"),
        (lambda: scatter_mean(SRC, INDEX[:3].to("meta")), ValueError, "index is on meta and src on cpu"),
        (lambda: scatter_mean(torch.tensor(1.0), INDEX), ValueError, "dim=0 does not exist: src has 0 dimensions"),
        (lambda: weighted_scatter_add(SRC, INDEX[:3], torch.ones(2)), ValueError, r"weight has shape \(2,\): .*\(3,\)"),
        (lambda: weighted_scatter_add(SRC, INDEX[:3], torch.tensor(2.0)), ValueError, r"weight has shape \(\)"),
        (lambda: weighted_scatter_add(SRC, INDEX[:3], 2.0), TypeError, "weight must be a tensor, not float"),
        (lambda: one_hot_scatter(SRC, 3), TypeError, "index must have an integer dtype, not torch.float32"),
        (lambda: one_hot_scatter(INDEX, 0), ValueError, "num_classes=0 must be at least 1"),
        (lambda: one_hot_scatter(INDEX, 5, torch.uint8, on_value=256), TypeError, "on_value=256 .* holds 0 to 255"),
        (lambda: one_hot_scatter(INDEX, 5, torch.int64, off_value=0.1), TypeError, "off_value=0.1 cannot be stored"),
    ],
)  # fmt: skip
def test_mistakes(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    """Each names what is wrong with its number."""
    with pytest.raises(error, match=message):
        call()
