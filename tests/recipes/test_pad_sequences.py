"""Padding, truncation and the mask, against a loop over rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from compilefix.recipes import pad_sequences

SIDES = st.sampled_from(["right", "left"])


def naive(
    sequences: list[torch.Tensor], max_length: int | None, value: float, truncation: str, side: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad row by row."""
    length = max(len(s) for s in sequences) if max_length is None else max_length
    rows, masks = [], []
    for sequence in sequences:
        kept = sequence[:length] if truncation == "right" else sequence[max(len(sequence) - length, 0) :]
        gap = torch.full((length - len(kept),), value, dtype=sequence.dtype)
        ones, zeros = torch.ones(len(kept), dtype=torch.bool), torch.zeros(len(gap), dtype=torch.bool)
        rows.append(torch.cat([kept, gap] if side == "right" else [gap, kept]))
        masks.append(torch.cat([ones, zeros] if side == "right" else [zeros, ones]))
    return torch.stack(rows), torch.stack(masks)


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    max_length=st.none() | st.integers(0, 8),
    dtype=st.sampled_from([torch.int64, torch.int32, torch.uint8, torch.float32, torch.float16]),
    truncation=SIDES,
    side=SIDES,
)
def test_as_a_loop_over_rows(
    lengths: list[int], max_length: int | None, dtype: torch.dtype, truncation: Any, side: Any
) -> None:
    """Any lengths, also none and 0, any sides and dtypes."""
    ids = iter(range(1, 100))
    sequences = [torch.tensor([next(ids) for _ in range(n)], dtype=dtype) for n in lengths]
    values, mask = pad_sequences(
        sequences, max_length=max_length, padding_value=7, truncation=truncation, padding_side=side
    )
    want, wanted = naive(sequences, max_length, 7, truncation, side)
    torch.testing.assert_close(values, want, rtol=0, atol=0)
    torch.testing.assert_close(mask, wanted, rtol=0, atol=0)


def test_by_hand() -> None:
    """A batch of three worked out by hand."""
    values, mask = pad_sequences([torch.tensor([5, 6, 7]), torch.tensor([8]), torch.tensor([], dtype=torch.long)])
    assert values.tolist() == [[5, 6, 7], [8, 0, 0], [0, 0, 0]]
    assert mask.long().tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("side", ["right", "left"])
def test_compiled_with_gradients(holds: Callable[..., None], side: Any) -> None:
    """Gradients reach what was kept, on either side, and are 0 for what was cut off."""
    floats = [torch.arange(1.0, 6.0), torch.tensor([]), torch.tensor([9.0, 8.0])]
    for sequence in floats:
        sequence.requires_grad_()
    holds(
        lambda s: pad_sequences(s, max_length=3, padding_value=-1.0, truncation=side, padding_side=side)[0],
        lambda s: naive(s, 3, -1.0, side, side)[0],
        floats,
    )


def test_compiled_mask_and_new_lengths(compiled: Callable[..., Any]) -> None:
    """A dynamic graph serves other lengths."""
    function = compiled(lambda a, b: pad_sequences([a, b], max_length=4), dynamic=True)
    for n, m in ((3, 2), (5, 4), (2, 6)):
        sequences = [torch.arange(n) + 1, torch.arange(m) + 11]
        torch.testing.assert_close(function(*sequences), naive(sequences, 4, 0, "right", "right"), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("sequences", "options", "error", "message"),
    [
        ([], {}, ValueError, "0 sequences"),
        (torch.ones(2, 3), {}, TypeError, r"not one tensor of shape \(2, 3\)"),
        ([torch.ones(2), [1.0]], {}, TypeError, "sequence 1 must be a tensor, not list"),
        ([torch.ones(2), torch.ones(2, 2)], {}, ValueError, "sequence 1 has 2 dimensions, expected 1"),
        ([torch.ones(2), torch.arange(2)], {}, TypeError, "sequence 1 has dtype torch.int64, sequence 0 has .*float32"),
        ([torch.ones(2), torch.ones(2, device="meta")], {}, ValueError, "sequence 1 is on meta, sequence 0 on cpu"),
        ([torch.ones(2)], {"max_length": -1}, ValueError, "max_length=-1 must be at least 0"),
        ([torch.ones(2)], {"max_length": 2.0}, TypeError, "max_length must be an int, not float"),
        ([torch.ones(2)], {"padding_side": "top"}, ValueError, "padding_side='top' must be 'right' or 'left'"),
        ([torch.ones(2)], {"truncation": "both"}, ValueError, "truncation='both' must be"),
        ([torch.arange(2)], {"padding_value": 0.5}, TypeError, "padding_value=0.5 cannot be stored in torch.int64"),
    ],
)
def test_mistakes(sequences: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    """Each names what is wrong with its number."""
    with pytest.raises(error, match=message):
        pad_sequences(sequences, **options)
