"""Text of programs, made fit to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilefix.text import first_line, signal_name, visible


@given(st.text())
def test_visible_text_has_no_control_character(text: str) -> None:
    """Whatever comes in, nothing that steers a terminal goes out."""
    assert all(c in "\n\t" or c.isprintable() for c in visible(text))


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("", ""),
        ("\n\n  one\ntwo", "one"),
        ("backend='inductor' raised:\nRuntimeError: no\nmore", "backend='inductor' raised: RuntimeError: no"),
        ("CppCompileError:\ng++ a.cpp\na.cpp:3:1: error: 'x' is bad", "CppCompileError: g++ a.cpp 'x' is bad"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)  # fmt: skip
def test_the_first_line_is_the_one_that_says_most(message: str, line: str) -> None:
    """Headlines are joined with what they announce, compiler logs are cut to the error."""
    assert first_line(message) == line


def test_a_signal_has_a_name_or_its_number() -> None:
    assert signal_name(11) == "SIGSEGV"
    assert signal_name(40) == "signal 40"
