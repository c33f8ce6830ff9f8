"""Conditions: every component that a gate may ask for, pre-releases and local builds on the safe side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from compilefix.condition import COMPONENTS, Condition

FACTS = {
    "torch": "2.13.0+cpu",
    "python": "3.11.7",
    "triton": "3.7.1",
    "cuda": None,
    "cudnn": "9.10.2",
    "g++": "12.2.0",
    "clang++": None,
    "system": "linux",
    "machine": "x86_64",
    "isa": "avx512",
}


def holds(text: str, facts: dict[str, str | None] = FACTS) -> bool | None:
    return Condition.parse(text).holds(facts, lambda kind, name: {"there": True, "not.there": False}.get(name))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("torch>=2.13", True),
        ("torch<2.13", False),
        ("torch == 2.13.0", True),
        ("python>=3.12", False),
        ("triton<3.8", True),
        ("cudnn>=9.10.2", True),
        ("cudnn<9.15", True),
        ("cuda>=12.8", False),  # there is none, so no version of it is there
        ("g++<13", True),
        ("clang++>=1", False),
        ("numpy<2", None),  # nothing is known of it
        ("isa==avx512", True),
        ("isa!=avx512", False),
        ("system==darwin", False),
        ("machine!=aarch64", True),
        ("has there", True),
        ("has not.there", False),
        ("lacks not.there", True),
        ("lacks there", False),
        ("has unknown.thing", None),
        ("parameter there", True),
        ("setting not.there", False),
    ],
)
def test_a_condition_is_held_against_what_is_installed(text: str, answer: bool | None) -> None:
    assert holds(text) is answer


@pytest.mark.parametrize(
    ("version", "at_least", "below"),
    [
        ("2.0.1", False, True),
        ("2.1.0.dev1", False, True),
        ("2.5.1+cu124", False, True),
        ("2.6.0.dev20241101", True, True),
        ("2.6.0a0+git1234567", True, True),
        ("2.6.0rc1", True, True),
        ("2.6.0", True, False),
        ("2.6.0+cu124", True, False),
    ],
)
def test_a_pre_release_of_a_bound_is_on_the_affected_side_of_both(version: str, at_least: bool, below: bool) -> None:
    facts: dict[str, str | None] = {"torch": version}
    assert holds("torch>=2.6", facts) is at_least
    assert holds("torch<2.6", facts) is below


@pytest.mark.parametrize("local", ["", "+cu124", "+cpu"])
def test_a_local_build_is_its_release(local: str) -> None:
    facts: dict[str, str | None] = {"torch": f"2.5.1{local}"}
    assert holds("torch<=2.5.1", facts) is True
    assert holds("torch==2.5.1", facts) is True
    assert holds("torch!=2.5.1", facts) is False
    assert holds("torch>2.5.1", facts) is False


@pytest.mark.parametrize(
    "text",
    ["", "torch", "torch=>2", "torch>=two", "torch>=2.6+cu124", "device==cuda", "isa>=avx2", "has 1x", "pandas<2"],
)
def test_another_form_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(ValueError, match="condition") as raised:
        Condition.parse(text)
    assert "\n" not in str(raised.value)


releases = st.builds("{}.{}.{}".format, st.integers(1, 3), st.integers(0, 20), st.integers(0, 3))
suffixes = st.sampled_from(["", "rc1", "a0", ".dev20250101"])


@given(st.sampled_from(COMPONENTS), releases, suffixes, releases)
def test_lower_and_upper_bound_leave_no_gap(component: str, release: str, suffix: str, bound: str) -> None:
    """Every version is at or above a bound, or below it: none falls through, as it does with a specifier set."""
    facts: dict[str, str | None] = {component: release + suffix}
    at_least, below = holds(f"{component}>={bound}", facts), holds(f"{component}<{bound}", facts)
    assert at_least or below
    assert (at_least and below) == (bool(suffix) and Version(release) == Version(bound))


@given(st.sampled_from(COMPONENTS), st.sampled_from([">=", ">", "<", "<=", "==", "!="]), releases)
def test_a_condition_is_read_back_from_its_text(component: str, operator: str, release: str) -> None:
    condition = Condition.parse(f"{component} {operator} {release}")
    assert Condition.parse(str(condition)) == condition
