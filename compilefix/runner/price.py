"""What a workaround costs: time and memory of one call, against the compiled program in the same process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import torch

from compilefix.runner import execution
from compilefix.runner.protocol import Mode, Request

BUDGET = 0.4
"""Seconds for which each side is timed."""

LEAST, MOST = 5, 200
"""Calls of each side."""

Scope = Callable[[], AbstractContextManager[Any]]
Side = tuple[Request, execution.Compile, Scope]
Call = Callable[[], float]


def price(module: ModuleType, without: Side, treated: Side) -> dict[str, float | int]:
    """
    Return ``ratio`` (median time of a call with the workaround by one without) and ``extra_bytes`` (peak memory).

    Both sides run in turn, so that a machine that slows down slows both. Inputs are made afresh, outside of the clock.
    """
    calls = [_prepared(module, *side) for side in (without, treated)]
    for call in calls:
        for _ in range(2):
            call()
    times: list[list[float]] = [[], []]
    end = time.perf_counter() + 2 * BUDGET
    while len(times[0]) < LEAST or (len(times[0]) < MOST and time.perf_counter() < end):
        for call, found in zip(calls, times, strict=True):
            found.append(call())
    peaks = [_peak(call) for call in calls]
    ratio = statistics.median(times[1]) / max(statistics.median(times[0]), 1e-9)
    return {"ratio": round(ratio, 3), "extra_bytes": peaks[1] - peaks[0]}


def _prepared(module: ModuleType, request: Request, compile: execution.Compile, scope: Scope) -> Call:
    device = request.parsed_target.data_device
    function = compile(execution.entry(module, request.mode, device))
    drive = getattr(module, "drive", None)
    if request.mode is Mode.WORKAROUND:
        drive = getattr(module, "drive_workaround", drive)

    def call() -> float:
        execution.seed(request.seed)
        args = tuple(module.inputs(device)) if hasattr(module, "inputs") else ()
        start = time.perf_counter()
        with scope():
            function(*args) if drive is None else drive(function, *args)
        return time.perf_counter() - start

    return call


def _peak(call: Call) -> int:
    """Return the peak in bytes of what one call has allocated at a time."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        call()
    results = profile.profiler.kineto_results if profile.profiler is not None else None
    held = peak = 0
    events = [] if results is None else [e for e in results.events() if e.name() == "[memory]"]
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak
