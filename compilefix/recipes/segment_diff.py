"""The time since the previous event of the same user, device or session."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def segment_diff(times: torch.Tensor, segments: torch.Tensor, first: _arguments.Number = 0) -> torch.Tensor:
    """
    Return for each event the time since the one before it in the same segment, and `first` for each segment's first.

    `times` and `segments` are ``[N]``, or ``[..., N]`` with every row on its own, in any order: the event before is
    the latest one that is not later, and of equal times the one that stands earlier. The result is in the order of
    the input, in the dtype and on the device of `times`. `segments` has an integer dtype, its ids are any. Gradients
    flow to `times`. Two stable sorts do the work, no loop.

    Raises `TypeError` where an argument is no tensor, `times` is bool or complex, `segments` has no integer dtype, or
    the dtype of `times` cannot hold `first`; `ValueError` for different shapes or devices, or no dimension at all.
    """
    _arguments.tensor("times", times)
    if times.dtype is torch.bool or times.is_complex():
        raise TypeError(f"times has dtype {times.dtype}, which has no differences in time")
    segments = _arguments.integers("segments", segments)
    _arguments.same_device(times=times, segments=segments)
    if times.shape != segments.shape or times.ndim == 0:
        raise ValueError(
            f"times has shape {tuple(times.shape)} and segments {tuple(segments.shape)}: expected [..., N]"
        )
    _arguments.fits("first", first, times.dtype)
    if times.shape[-1] == 0:
        return times.new_zeros(times.shape)
    by_time = times.detach().sort(dim=-1, stable=True).indices
    by_segment = segments.gather(-1, by_time).sort(dim=-1, stable=True)
    order = by_time.gather(-1, by_segment.indices)
    sorted_times, sorted_segments = times.gather(-1, order), by_segment.values
    follows = sorted_segments[..., 1:] == sorted_segments[..., :-1]
    start = times.new_full((), first)
    since = torch.where(follows, sorted_times[..., 1:] - sorted_times[..., :-1], start)
    since = torch.cat([start.expand(*times.shape[:-1], 1), since], dim=-1)
    return times.new_zeros(times.shape).scatter(-1, order, since)
