"""JSON is read back as it was, and by strict parsers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilefix.check import CheckReport
from compilefix.outcome import Target
from compilefix.report.check import render

SURROGATES = st.text(alphabet=st.characters(codec=None))


def refuse(constant: str) -> None:
    """Fail on what JSON does not have."""
    pytest.fail(f"{constant} is no JSON")


@pytest.mark.parametrize(
    "name", ["none", "clear", "mixed", "unsupported", "interrupted", "two devices", "contracts", "one target"]
)
def test_a_report_comes_back_as_it_was(name: str, reports: dict[str, CheckReport]) -> None:
    """`from_json` of the text is the report."""
    assert CheckReport.from_json(json.loads(render("json", reports[name]))) == reports[name]


def test_the_layout_is_the_documented_one(reports: dict[str, CheckReport]) -> None:
    """Keys keep the order of `to_json`, two cells of indentation."""
    text = render("json", reports["clear"])
    assert text.startswith('{\n  "schema": 1,\n  "environment": {\n    "torch": "2.13.0+cpu",\n')
    assert list(json.loads(text)) == list(reports["clear"].to_json())


def test_numbers_that_json_lacks_become_strings(reports: dict[str, CheckReport]) -> None:
    """NaN and infinity are strings at any depth, and the file can still be read and shown."""
    raw = json.loads(render("json", reports["hostile"]), parse_constant=refuse)
    outcome = raw["results"][0]["outcomes"]["inductor:cpu"]
    assert outcome["seconds"] == "nan"
    assert (outcome["differences"][0]["want"], outcome["differences"][0]["worst"]) == ("nan", "inf")
    again = CheckReport.from_json(raw)
    assert "worst by inf" in render("markdown", again)
    assert 'name="gh1" time="0.000"' in render("junit", again)


def test_json_is_ascii(reports: dict[str, CheckReport]) -> None:
    """A terminal or a pipe with another encoding cannot damage it."""
    assert render("json", reports["hostile"]).isascii()


@given(text=SURROGATES)
def test_any_text_comes_back(text: str, worded: Callable[[str], CheckReport]) -> None:
    """Reasons, differences, errors and output survive, lone surrogates included."""
    report = worded(text)
    again = CheckReport.from_json(json.loads(render("json", report), parse_constant=refuse))
    assert again == report
    assert again.results[0].outcomes[Target("inductor")].error == (text, text)
