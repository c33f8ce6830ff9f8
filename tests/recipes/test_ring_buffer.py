"""Writes that wrap around, in place and not, against a loop over entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._dynamo.testing import CompileCounterWithBackend

from compilefix.recipes import ring_buffer_update, ring_buffer_update_

BOTH = pytest.mark.parametrize("update", [ring_buffer_update, ring_buffer_update_])


def naive(buffer: torch.Tensor, new: torch.Tensor, position: int, dim: int) -> torch.Tensor:
    """Write entry by entry; later entries win."""
    slots, entries = list(buffer.unbind(dim)), new.unbind(dim)
    for i, entry in enumerate(entries):
        slots[(int(position) + i) % len(slots)] = entry
    return torch.stack(slots, dim)


@settings(deadline=None)
@given(
    size=st.integers(1, 6),
    entries=st.integers(0, 9),
    position=st.integers(-20, 20),
    as_tensor=st.booleans(),
    dim=st.integers(-3, 2),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.int64, torch.bool]),
)
def test_as_a_loop(size: int, entries: int, position: int, as_tensor: bool, dim: int, dtype: torch.dtype) -> None:
    """Any dimension, any position, any number of entries: also none, and more than there are slots."""
    shape = [2, 3, 2]
    shape[dim] = size
    buffer = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
    shape[dim] = entries
    new = (torch.arange(torch.Size(shape).numel()).reshape(shape) - 50).to(dtype)
    place = torch.tensor(position, dtype=torch.int32) if as_tensor else position
    want, before = naive(buffer, new, position, dim), buffer.clone()
    got = ring_buffer_update(buffer, new, place, dim)
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    torch.testing.assert_close(buffer, before, rtol=0, atol=0)
    assert got.untyped_storage().data_ptr() != buffer.untyped_storage().data_ptr()
    assert ring_buffer_update_(buffer, new, place, dim) is buffer
    torch.testing.assert_close(buffer, want, rtol=0, atol=0)


def test_by_hand() -> None:
    """Three entries from slot 3 of 4 on."""
    buffer, new = torch.zeros(4, 1), torch.tensor([[1.0], [2.0], [3.0]])
    assert ring_buffer_update(buffer, new, 3).flatten().tolist() == [2.0, 3.0, 0.0, 1.0]
    assert ring_buffer_update(buffer.flatten(), new.flatten(), 7, dim=0).tolist() == [2.0, 3.0, 0.0, 1.0]


def test_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """The gradient of a slot goes to whoever wrote it."""
    buffer, new = torch.arange(10.0).reshape(5, 2).requires_grad_(), (-torch.ones(3, 2)).requires_grad_()
    holds(
        lambda b, n, p: ring_buffer_update(b, n, p),
        lambda b, n, p: naive(b, n, p, -2),
        buffer,
        new,
        torch.tensor(4),
    )


def test_in_place_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """In place on a tensor that is no leaf."""
    buffer, new = torch.arange(10.0).reshape(5, 2).requires_grad_(), (-torch.ones(3, 2)).requires_grad_()
    holds(
        lambda b, n, p: ring_buffer_update_(b * 2, n, p),
        lambda b, n, p: naive(b * 2, n, p, -2),
        buffer,
        new,
        torch.tensor(4),
    )


def slots_only(buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    """Update in place without a pass over the buffer."""
    return ring_buffer_update_(buffer, new, position, slots_only=True)


@pytest.mark.parametrize("update", [ring_buffer_update, ring_buffer_update_, slots_only])
def test_ten_positions_compile_once(compiled: Callable[..., Any], update: Callable[..., torch.Tensor]) -> None:
    """A tensor as the position is data, not a constant of the graph."""
    counter = CompileCounterWithBackend("inductor")
    function = torch.compile(lambda b, n, p: update(b, n, p), backend=counter, fullgraph=True)
    cache = want = torch.zeros(1, 2, 4, 3)
    for step in range(10):
        new = torch.full((1, 2, 1, 3), float(step + 1))
        want = naive(want, new, step, -2)
        cache = function(cache, new, torch.tensor(step))
        torch.testing.assert_close(cache, want, rtol=0, atol=0)
    assert counter.frame_count == 1


def test_ten_int_positions_compile_twice(compiled: Callable[..., Any]) -> None:
    """An int is a constant at first, and dynamic when it changes."""
    counter = CompileCounterWithBackend("eager")
    function = torch.compile(lambda b, n, p: ring_buffer_update(b, n, p), backend=counter, fullgraph=True)
    buffer, new = torch.zeros(4, 2), torch.ones(2, 2)
    for step in range(2, 12):
        torch.testing.assert_close(function(buffer, new, step), naive(buffer, new, step, -2), rtol=0, atol=0)
    assert counter.frame_count == 2


def test_new_entries_may_be_views_of_the_buffer() -> None:
    """The form that is not in place reads everything before it writes."""
    buffer = torch.arange(4.0)
    assert ring_buffer_update(buffer, buffer[:3], 1, dim=0).tolist() == [0.0, 0.0, 1.0, 2.0]


B = torch.zeros(4, 2)


@BOTH
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], B, 0), TypeError, "buffer must be a tensor, not list"),
        ((B, 1.0, 0), TypeError, "new must be a tensor, not float"),
        ((B, B.double(), 0), TypeError, "new has dtype torch.float64 and buffer torch.float32"),
        ((B, torch.ones(1, 3), 0), ValueError, r"new has shape \(1, 3\) and buffer \(4, 2\): .* dim=0 only"),
        ((B, torch.ones(2), 0), ValueError, r"new has shape \(2,\) and buffer \(4, 2\)"),
        ((B, B, torch.tensor([0])), ValueError, r"position has shape \(1,\): expected one number"),
        ((B, B, torch.tensor(0.0)), TypeError, "position must have an integer dtype, not torch.float32"),
        ((B, B, 1.0), TypeError, "position must be an int or an integer tensor, not float"),
        ((B[:0], B, 0), ValueError, r"buffer has 0 slots along dim=0: its shape is \(0, 2\)"),
        ((B, B, 0, 2), ValueError, "dim=2 does not exist: buffer has 2 dimensions"),
        ((B[:, 0], B[:, 0], 0), ValueError, "dim=-2 does not exist: buffer has 1 dimensions"),
        ((B, B.to("meta"), 0), ValueError, "new is on meta and buffer on cpu"),
    ],
)  # fmt: skip
def test_mistakes(update: Callable[..., Any], arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    """Each names what is wrong with its number."""
    with pytest.raises(error, match=message):
        update(*arguments)
