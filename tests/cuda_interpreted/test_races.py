"""Conflicts in a trace, without a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from compilefix.cuda_interpreted.races import ATOMIC, MOST, READ, WRITE, Race, Trace


def trace(*accesses: tuple[int, int, list[int]], values: bool = True) -> Trace:
    """Build a trace of (kind, program, addresses); the line of an access is its position."""
    made = Trace()
    for line, (kind, program, addresses) in enumerate(accesses):
        bits = np.full(len(addresses), program if values else 0, dtype=np.uint64) if kind == WRITE else None
        made.add(kind, program, line, np.array(addresses, dtype=np.uint64), bits)
    return made


@pytest.mark.parametrize(
    ("accesses", "races"),
    [
        ([(READ, 0, [8]), (WRITE, 0, [8]), (READ, 1, [16]), (WRITE, 1, [16])], []),
        ([(READ, 0, [8, 16]), (READ, 1, [8, 16])], []),
        ([(WRITE, 0, [8]), (READ, 1, [16, 8])], [Race(8, 0, 1, 1, both_write=False)]),
        ([(READ, 0, [8]), (WRITE, 1, [8])], [Race(8, 1, 0, 0, both_write=False)]),
        ([(WRITE, 0, [8]), (WRITE, 1, [8])], [Race(8, 0, 1, 1, both_write=True)]),
        ([(ATOMIC, 0, [8]), (ATOMIC, 1, [8])], []),
        ([(ATOMIC, 0, [8]), (READ, 1, [8])], [Race(8, 0, 1, 1, both_write=False)]),
        ([], []),
    ],
)
def test_conflicts(accesses: list[tuple[int, int, list[int]]], races: list[Race]) -> None:
    """A read and a write, or two writes, of one address by two programs."""
    assert trace(*accesses).races() == races


def test_writes_of_one_value_do_no_harm() -> None:
    """Whoever comes last, the result is the same."""
    assert trace((WRITE, 0, [8]), (WRITE, 1, [8]), values=False).races() == []


def test_programs_that_wait_for_each_other_are_not_judged() -> None:
    """An atomic that acquires or releases orders what the trace cannot know."""
    made = trace((WRITE, 0, [8]), (READ, 1, [8]))
    made.orders = True
    assert made.races() == []


def test_a_launch_that_is_too_large_is_not_judged() -> None:
    """And it says so."""
    made = Trace()
    made.add(READ, 0, 1, np.zeros(MOST + 1, dtype=np.uint64))
    assert not made.whole
    assert made.races() == []
