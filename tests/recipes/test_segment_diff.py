"""Time since the previous event, against a search over all events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from compilefix.recipes import segment_diff


def naive(times: torch.Tensor, segments: torch.Tensor, first: float = 0) -> torch.Tensor:
    """Search for every event the latest one before it; among equal times the order of the input decides."""
    moments, result = times.tolist(), []
    for i, own in enumerate(segments.tolist()):
        earlier = [
            (moments[j], j)
            for j, other in enumerate(segments.tolist())
            if other == own and (moments[j], j) < (moments[i], i)
        ]
        result.append(times[i] - times[max(earlier)[1]] if earlier else times.new_full((), first))
    return torch.stack(result)


@settings(deadline=None)
@given(
    events=st.lists(st.tuples(st.integers(-9, 9), st.integers(-2, 2)), min_size=1, max_size=12),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.int64, torch.int32]),
    first=st.integers(-3, 3),
)
def test_as_a_search(events: list[tuple[int, int]], dtype: torch.dtype, first: int) -> None:
    """Any order, equal times, any ids."""
    times = torch.tensor([t for t, _ in events], dtype=dtype)
    segments = torch.tensor([s for _, s in events])
    torch.testing.assert_close(segment_diff(times, segments, first), naive(times, segments, first), rtol=0, atol=0)


def test_by_hand() -> None:
    """Two users, the second one's events out of order; rows of a batch are on their own."""
    times, users = torch.tensor([5.0, 9.0, 1.0, 6.5]), torch.tensor([7, 3, 3, 7])
    assert segment_diff(times, users, first=-1.0).tolist() == [-1.0, 8.0, -1.0, 1.5]
    batch = segment_diff(torch.stack([times, times]), torch.stack([users, torch.zeros(4).long()]), first=-1)
    assert batch.tolist() == [[-1.0, 8.0, -1.0, 1.5], [4.0, 2.5, -1.0, 1.5]]
    assert segment_diff(torch.empty(2, 0), torch.empty(2, 0, dtype=torch.uint8)).shape == (2, 0)
    assert segment_diff(torch.tensor([2.0]), torch.tensor([0]), first=float("nan")).isnan().all()


def test_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """An event's gradient is its own minus that of the one that follows."""
    times = torch.tensor([5.0, 9.0, 1.0, 6.5, 2.0, 4.0]).requires_grad_()
    holds(
        lambda t, s: segment_diff(t, s, 100.0), lambda t, s: naive(t, s, 100.0), times, torch.tensor([0, 1, 1, 0, 1, 2])
    )


T, S = torch.ones(3), torch.zeros(3, dtype=torch.long)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: segment_diff([1.0], S), TypeError, "times must be a tensor, not list"),
        (lambda: segment_diff(T > 0, S), TypeError, "times has dtype torch.bool"),
        (lambda: segment_diff(T, T), TypeError, "segments must have an integer dtype, not torch.float32"),
        (lambda: segment_diff(T, S[:2]), ValueError, r"times has shape \(3,\) and segments \(2,\)"),
        (lambda: segment_diff(T[0], S[0]), ValueError, r"times has shape \(\) and segments \(\): expected"),
        (lambda: segment_diff(S, S, first=0.5), TypeError, "first=0.5 cannot be stored in torch.int64"),
        (lambda: segment_diff(T, S.to("meta")), ValueError, "segments is on meta and times on cpu"),
    ],
)  # fmt: skip
def test_mistakes(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    """Each names what is wrong with its number."""
    with pytest.raises(error, match=message):
        call()
