"""JUnit by the schema of what CI servers read: every report is valid, and the schema refuses what they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from compilefix.check import CheckReport, merge
from compilefix.report.check import render
from tests.conftest import FIXTURES, Cli

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))


def complaint(text: str) -> str:
    """Return what the schema says against a report; empty where it is valid."""
    SCHEMA.validate(etree.fromstring(text.encode("ascii")))
    return "; ".join(f"line {e.line}: {e.message}" for e in SCHEMA.error_log)


def test_every_report_is_valid(report: CheckReport) -> None:
    """All verdicts and outcomes, contracts, workarounds, unreadable records, hostile text, interrupted checks."""
    assert complaint(render("junit", report)) == ""


def test_a_report_read_again_and_merged_is_valid(reports: dict[str, CheckReport]) -> None:
    """No name of a suite or a case comes twice, where two shards tell of one record."""
    again = CheckReport.from_json(reports["mixed"].to_json())
    assert complaint(render("junit", merge([again, reports["mixed"]]))) == ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(codec=None)))
def test_any_text_is_valid(text: str, worded: Callable[[str], CheckReport]) -> None:
    """Control characters, lone surrogates, ends of CDATA: wherever text of a program may stand."""
    assert complaint(render("junit", worded(text))) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<testsuite name="reference:cpu"', "<testsuite"),
        ("<testsuites ", '<testsuites verdict="clear" '),
        ("</testcase>", "<failure/><skipped/></testcase>"),
        ("</testcase>", "<outcome/></testcase>"),
        (' time="0.500"', ' time="0,5"'),
        (' time="0.500"', ' time="nan"'),
        (' errors="0"', ' errors="none"'),
        ('name="gh2"', 'name="gh1"'),
        ('name="eager:cpu"', 'name="reference:cpu"'),
        (' classname="compilefix.inductor:cpu"', ""),
    ],
)
def test_what_a_ci_server_refuses_is_not_valid(old: str, new: str, reports: dict[str, CheckReport]) -> None:
    """One spoiled word is found, so that the tests above can fail."""
    text = render("junit", reports["mixed"])
    assert old in text
    assert complaint(text.replace(old, new, 1))


@pytest.mark.slow
def test_a_check_with_hostile_output_is_valid(cli: Cli) -> None:
    """A real program that prints control characters, through the command line."""
    done = cli(
        "check", "local-control-characters", "local-healthy", "--repros", str(FIXTURES),
        "--target", "aot_eager:cpu", "--format", "junit",
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert complaint(done.stdout) == ""
    assert 'name="local-control-characters"' in done.stdout
