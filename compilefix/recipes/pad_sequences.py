"""Batch sequences of different lengths: padded values and the mask of what is no padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch

from compilefix.recipes import _arguments

Side = Literal["right", "left"]


def pad_sequences(
    sequences: Sequence[torch.Tensor],
    *,
    max_length: int | None = None,
    padding_value: _arguments.Number = 0,
    truncation: Side = "right",
    padding_side: Side = "right",
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Return N one-dimensional `sequences` as one tensor ``[N, L]``, and the attention mask ``[N, L]``.

    L is `max_length`, also where every sequence is shorter (one shape, one compilation), or else the greatest length.
    Longer sequences lose their end, or their beginning with ``truncation="left"``; padding goes behind them, or in
    front with ``padding_side="left"``. Empty sequences become rows of padding.

    The values keep dtype and device of the sequences, and gradients flow back to every element that was kept. The
    mask is bool, True for what takes part, as `torch.nn.functional.scaled_dot_product_attention` reads it; write
    ``mask.long()`` for models that want ones and zeros.

    `torch.nn.utils.rnn.pad_sequence` also pads sequences of more dimensions and is faster for long rows on a CPU, but
    it truncates to no length, gives no mask, and copies row by row; here one scatter places everything.

    Raises `ValueError` for no sequences, a sequence that is not one-dimensional, different devices, a negative
    `max_length` or an unknown side; `TypeError` for what is no tensor, different dtypes, or a `padding_value` that
    the dtype cannot hold. Compiled code has the lengths in its guards: new lengths compile anew, until torch makes
    them dynamic.
    """
    first = _check(sequences)
    _side("truncation", truncation)
    _side("padding_side", padding_side)
    _arguments.fits("padding_value", padding_value, first.dtype)
    lengths = [sequence.shape[0] for sequence in sequences]
    if max_length is None:
        max_length = max(lengths)
    _arguments.count("max_length", max_length)
    rows, total = len(lengths), sum(lengths)
    length = torch.tensor(lengths, device=first.device)
    row = torch.repeat_interleave(length, output_size=total)
    column = torch.arange(total, device=first.device) - (length.cumsum(0) - length)[row]
    kept = length.clamp(max=max_length)
    if truncation == "left":
        column = column - (length - kept)[row]
    stays = (column >= 0) & (column < max_length)
    places = torch.arange(max_length, device=first.device)
    if padding_side == "left":
        column = column + (max_length - kept)[row]
        mask = places >= (max_length - kept)[:, None]
    else:
        mask = places < kept[:, None]
    surplus = rows * max_length  # one more place, cut off below, takes what is truncated
    place = torch.where(stays, row * max_length + column, surplus)
    padded = first.new_full((surplus + 1,), padding_value).scatter_(0, place, torch.cat(list(sequences)))
    return padded[:surplus].reshape(rows, max_length), mask


def _check(sequences: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the first sequence, after all are found to be alike."""
    if isinstance(sequences, torch.Tensor):
        raise TypeError(f"sequences must be a list of tensors, not one tensor of shape {tuple(sequences.shape)}")
    if len(sequences) == 0:
        raise ValueError("0 sequences have no dtype and no device: give at least 1")
    first = sequences[0]
    for i, sequence in enumerate(sequences):
        if not isinstance(sequence, torch.Tensor):
            raise TypeError(f"sequence {i} must be a tensor, not {type(sequence).__name__}")
        if sequence.ndim != 1:
            raise ValueError(f"sequence {i} has {sequence.ndim} dimensions, expected 1")
        if sequence.dtype != first.dtype:
            raise TypeError(f"sequence {i} has dtype {sequence.dtype}, sequence 0 has {first.dtype}")
        if sequence.device != first.device:
            raise ValueError(f"sequence {i} is on {sequence.device}, sequence 0 on {first.device}")
    return first


def _side(name: str, value: str) -> None:
    if value not in ("right", "left"):
        raise ValueError(f"{name}={value!r} must be 'right' or 'left'")
