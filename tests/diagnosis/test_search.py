"""Delta debugging over sets."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from compilefix.diagnosis import search


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_a_minimal_set_is_found(case: tuple[int, set[int]]) -> None:
    """What is found is what is needed, whatever its size."""
    n, guilty = case
    tests = 0

    def first(sets: Sequence[tuple[int, ...]]) -> int | None:
        nonlocal tests
        for i, chosen in enumerate(sets):
            tests += 1
            if guilty <= set(chosen):
                return i
        return None

    assert set(search.minimal(range(n), first)) == guilty
    assert tests <= 4 * n * n + 8


def test_one_among_many_takes_few_rounds() -> None:
    """A single item of 1024 takes 10 rounds of two."""
    rounds = 0

    def first(sets: Sequence[tuple[int, ...]]) -> int | None:
        nonlocal rounds
        rounds += 1
        return next((i for i, chosen in enumerate(sets) if 700 in chosen), None)

    assert search.minimal(range(1024), first) == (700,)
    assert rounds == 10


def test_more_parts_take_fewer_rounds() -> None:
    """Four parts, of which the first that holds ends a round, quarter the items each time."""
    sizes = []

    def first(sets: Sequence[tuple[int, ...]]) -> int | None:
        sizes.append(len(sets))
        return next((i for i, chosen in enumerate(sets) if 700 in chosen), None)

    assert search.minimal(range(1024), first, coarse=4) == (700,)
    assert sizes == [4] * 5


def test_alternatives_are_found_one_after_another() -> None:
    """Two items of which one is enough are two sets."""

    def first(sets: Sequence[tuple[int, ...]]) -> int | None:
        return next((i for i, chosen in enumerate(sets) if {3, 7} & set(chosen)), None)

    assert sorted(search.disjoint(range(10), first, 5)) == [(3,), (7,)]
