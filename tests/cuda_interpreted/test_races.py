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
        ([(WRITE, 0, [8]), (READ, 1, [16, 8])], [Race(8, 0, 1, 0, 1, both_write=False)]),
        ([(READ, 0, [8]), (WRITE, 1, [8])], [Race(8, 1, 0, 1, 0, both_write=False)]),
        ([(WRITE, 0, [8]), (WRITE, 1, [8])], [Race(8, 0, 1, 0, 1, both_write=True)]),
        ([(ATOMIC, 0, [8]), (ATOMIC, 1, [8])], []),
        ([(ATOMIC, 0, [8]), (READ, 1, [8])], [Race(8, 0, 1, 0, 1, both_write=False)]),
        ([], []),
    ],
)
def test_conflicts(accesses: list[tuple[int, int, list[int]]], races: list[Race]) -> None:
    """A read and a write, or two writes, of one address by two programs."""
    assert trace(*accesses).races() == races


def test_writes_of_one_value_do_no_harm() -> None:
    """Whoever comes last, the result is the same."""
    assert trace((WRITE, 0, [8]), (WRITE, 1, [8]), values=False).races() == []


def test_two_lanes_of_one_store_that_disagree_are_a_conflict() -> None:
    """Which of them comes last is open; the same program may write again later, though."""
    made = Trace()
    made.add(WRITE, 3, 7, np.array([8, 8], dtype=np.uint64), np.array([1, 2], dtype=np.uint64))
    assert made.races() == [Race(8, 3, 3, 7, 7, both_write=True)]
    again = Trace()
    for value in (1, 2):
        again.add(WRITE, 3, 7, np.array([8], dtype=np.uint64), np.array([value], dtype=np.uint64))
    assert again.races() == []


def test_each_pair_of_lines_is_told_once() -> None:
    """Two stores that a third program reads: two conflicts, however many addresses they share."""
    found = trace((WRITE, 0, [8, 16]), (WRITE, 1, [24, 32]), (READ, 2, [8, 16, 24, 32])).races()
    assert [(r.first_line, r.line) for r in found] == [(0, 2), (1, 2)]


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
