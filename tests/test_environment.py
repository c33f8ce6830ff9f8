"""What an environment offers to a record's ``requires``."""

from __future__ import annotations

import pytest

from tests.runner.test_schedule import environment


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"isa": None}, {"linux", "x86_64", "cpu"}),
        ({"isa": "avx512"}, {"linux", "x86_64", "cpu", "avx2", "avx512"}),
        ({"isa": None, "numpy": "2.4.6"}, {"linux", "x86_64", "cpu", "numpy"}),
        ({"isa": "avx2", "devices": ("cpu", "cuda")}, {"linux", "x86_64", "cpu", "cuda", "avx2"}),
    ],
)
def test_the_words_that_requires_may_use(changes: dict[str, object], words: set[str]) -> None:
    """System, machine, devices, the instruction set with what it includes, and NumPy where it is installed."""
    assert environment(**changes).features == words
