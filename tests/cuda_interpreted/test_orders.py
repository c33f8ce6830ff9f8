"""Orders of a grid."""

from __future__ import annotations

import pytest

from compilefix.cuda_interpreted.orders import FORWARD, REVERSE, Order, others, parse
from compilefix.errors import UsageError


def test_forward_reverse_and_seeded_shuffles() -> None:
    """A seed gives the same shuffle each time, another seed another one, and each is a permutation."""
    assert list(parse("forward").positions(4)) == [0, 1, 2, 3]
    assert list(parse("Reverse").positions(4)) == [3, 2, 1, 0]
    first = parse("shuffle:7").positions(50)
    assert first == parse("shuffle:7").positions(50) != parse("shuffle:8").positions(50)
    assert sorted(first) == list(range(50))
    assert str(parse("shuffle")) == "shuffle:0"


@pytest.mark.parametrize("text", ["", "backward", "shuffle:x", "reverse:3", "shuffle:"])
def test_another_word_is_refused(text: str) -> None:
    """With the words that there are."""
    with pytest.raises(UsageError, match="write forward, reverse, shuffle or shuffle:SEED"):
        parse(text)


def test_a_launch_is_tried_in_the_others() -> None:
    """At least two besides its own."""
    assert others(FORWARD) == (REVERSE, Order("shuffle", 1))
    assert others(Order("shuffle", 1)) == (FORWARD, REVERSE, Order("shuffle", 2))
