"""A launch that cannot end in time is refused at its beginning."""

from __future__ import annotations

import pytest

from compilefix.cuda_interpreted import size
from compilefix.cuda_interpreted.problems import TooLargeError, limit_of, too_large


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the test sets."""
    now = [100.0]
    monkeypatch.setattr(size.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(size, "BUDGET", size.Budget())
    return now


def ticks(meter: size.Meter, clock: list[float], count: int, seconds: float) -> None:
    """Let `count` accesses take `seconds` each."""
    for _ in range(count):
        meter.tick()
        clock[0] += seconds


def test_it_is_refused_after_a_twentieth_of_the_time_and_says_how_long_it_would_take(clock: list[float]) -> None:
    """1000 programs of three accesses, 0.1 s each, and 60 s to spend."""
    size.BUDGET.set(60)
    with pytest.raises(TooLargeError) as raised:
        ticks(size.Meter("k", 1000, 3), clock, 3000, 0.1)
    assert clock[0] - 100 < 60 / 18
    text = str(raised.value)
    assert text == (
        "too large for the interpreter: k, 1000 programs of 3 loads and stores each, would take about 300 s"
    )
    assert limit_of("RuntimeError: Trying to resize storage that is not resizable") is not None
    assert limit_of("RuntimeError: boom") is None
    assert limit_of(f"BackendCompilerFailed: {text}") == text
    assert too_large(text)


def test_what_ends_in_time_runs(clock: list[float]) -> None:
    """50 s of 54."""
    size.BUDGET.set(60)
    ticks(size.Meter("k", 500, 1), clock, 500, 0.1)


def test_what_was_estimated_too_short_is_stopped_at_the_end(clock: list[float]) -> None:
    """A loop whose length the source does not tell: never a hang."""
    size.BUDGET.set(60)
    with pytest.raises(TooLargeError):
        ticks(size.Meter("k", 1, 1), clock, 10_000, 0.1)
    assert clock[0] - 100 < 60


def test_without_a_limit_everything_fits(clock: list[float]) -> None:
    """As in tests and in `kernels`."""
    ticks(size.Meter("k", 1, 1), clock, 1000, 100)
