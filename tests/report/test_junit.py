"""JUnit: what is a failure, and that CI servers can read it."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilefix.check import CheckReport
from compilefix.outcome import Verdict
from compilefix.report.check import render

STATES = ("failure", "error", "skipped")
ALLOWED = re.compile(r"[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def parsed(report: CheckReport) -> ET.Element:
    """Return the root of the rendered report."""
    return ET.fromstring(render("junit", report))


def states(root: ET.Element) -> dict[tuple[str, str], str]:
    """Return the state of every case by suite and name."""
    return {
        (suite.attrib["name"], case.attrib["name"]): next((s for s in STATES if case.find(s) is not None), "passed")
        for suite in root
        for case in suite.iter("testcase")
    }


def properties(element: ET.Element) -> dict[str, str]:
    """Return the properties of a suite or a case."""
    return {p.attrib["name"]: p.attrib["value"] for p in element.findall("properties/property")}


def test_suites_are_targets_in_ladder_order(reports: dict[str, CheckReport]) -> None:
    """One suite for each target that some record ran on, and one for records that could not be read."""
    names = [suite.attrib["name"] for suite in parsed(reports["mixed"])]
    stages = ("reference", "eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
    assert names == [*(f"{s}:{d}" for s in stages for d in ("cpu", "cuda")), "records"]


@pytest.mark.parametrize(
    ("id", "changed"),
    [
        ("gh1", {}),
        ("gh2", {}),
        ("gh3", dict.fromkeys(("aot_eager:cpu", "aot_eager_decomp_partition:cpu", "inductor:cpu"), "failure")),
        ("gh4", {"inductor:cpu": "failure"}),
        (
            "gh5",
            dict.fromkeys(("eager:cpu", "aot_eager:cpu", "aot_eager_decomp_partition:cpu", "inductor:cpu"), "failure"),
        ),
        (
            "gh6",
            {
                f"{stage}:cuda": "skipped"
                for stage in ("reference", "eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
            },
        ),
        ("gh7", {"inductor:cpu": "error"}),
        ("gh8", {}),
        ("gh9", {}),
    ],
)
def test_what_a_verdict_is_in_junit(id: str, changed: dict[str, str], reports: dict[str, CheckReport]) -> None:
    """All cases of a record that are not `changed` pass; a defect that reproduces as recorded passes."""
    found = {suite: state for (suite, name), state in states(parsed(reports["mixed"])).items() if name == id}
    assert len(found) == 5
    assert {suite: state for suite, state in found.items() if state != "passed"} == changed


@pytest.mark.parametrize(
    ("id", "changed"),
    [
        ("a-holds", {}),
        ("b-does-not", {}),
        ("c-differs", {}),
        ("d-new-truth", {"reference:cpu": "failure"}),
        ("e-same-now", {"inductor:cpu": "failure"}),
        ("f-differs-now", {"inductor:cpu": "failure"}),
        ("g-other", {"inductor:cpu": "failure"}),
        ("h-unknown", {}),
    ],
)
def test_what_a_contract_is_in_junit(id: str, changed: dict[str, str], reports: dict[str, CheckReport]) -> None:
    """A truth as recorded passes; another fails on the reference, or on the targets that do otherwise than recorded."""
    found = states(parsed(reports["contracts"]))
    of_one = {suite: state for (suite, name), state in found.items() if name == f"contract-{id}"}
    assert len(of_one) == 5
    assert {suite: state for suite, state in of_one.items() if state != "passed"} == changed


def test_a_contract_has_its_statement_in_junit(reports: dict[str, CheckReport]) -> None:
    """Statement and recorded truth are properties; a known difference is marked, one that is news is not."""
    root = parsed(reports["contracts"])
    cases = {c.attrib["name"]: properties(c) for c in root.iterfind("testsuite[@name='inductor:cpu']/testcase")}
    assert cases["contract-c-differs"] == {
        "outcome": "mismatch",
        "verdict": "eager and compiled differ",
        "symptom": "wrong-result",
        "statement": "The c differs.",
        "recorded": "eager and compiled differ",
        "known": "eager and compiled differ",
    }
    assert "known" not in cases["contract-f-differs-now"]
    assert cases["contract-h-unknown"]["recorded"] == "unknown"


def test_fixed_early_fails_where_it_was_measured(row: Callable[..., CheckReport]) -> None:
    """A target that could not run refutes nothing: the last one that came out right does."""
    did = {"reference": "ok", "eager": "ok", "aot_eager": "numerics", "inductor": "unsupported"}
    assert {suite: state for (suite, _), state in states(parsed(row(Verdict.FIXED_EARLY, did))).items()} == {
        "reference:cpu": "passed",
        "eager:cpu": "passed",
        "aot_eager:cpu": "failure",
        "inductor:cpu": "skipped",
    }


def test_what_could_not_be_judged_is_an_error(row: Callable[..., CheckReport]) -> None:
    """A target that misbehaves while the reference of another device is unknown is neither passed nor failed."""
    did = {"reference": "ok", "inductor": "mismatch", "reference:cuda": "unresolved"}
    found = states(parsed(row(Verdict.UNRESOLVED, did)))
    assert set(found.values()) == {"passed", "error"}
    assert found["inductor:cpu", "gh1"] == "error"


def test_a_known_defect_is_marked(reports: dict[str, CheckReport]) -> None:
    """The passed case of a defect says so, and nothing else does."""
    root = parsed(reports["mixed"])
    known = [c for c in root.iter("testcase") if "known" in properties(c)]
    assert {c.attrib["name"] for c in known} == {"gh1", "gh8", "gh9", "contract-clone-owns-memory"}
    case = next(c for c in known if c.attrib["name"] == "gh1")
    assert case.attrib == {"classname": "compilefix.inductor:cpu", "name": "gh1", "time": "0.500"}
    assert properties(case) == {
        "outcome": "mismatch",
        "verdict": "reproduces",
        "symptom": "wrong-result",
        "known": "reproduces",
        "workaround": "ok",
    }


def test_failures_errors_and_skips_carry_their_reason(reports: dict[str, CheckReport]) -> None:
    """The message is the sentence that the table shows as well; the text has the evidence."""
    root = parsed(reports["mixed"])

    def note(suite: str, id: str, tag: str) -> ET.Element:
        found = root.find(f"testsuite[@name='{suite}']/testcase[@name='{id}']/{tag}")
        assert found is not None
        return found

    failure = note("inductor:cpu", "gh3", "failure")
    assert failure.attrib["type"] == "regressed"
    assert failure.attrib["message"].startswith("the record says that this torch is not affected, but aot_eager:cpu")
    assert failure.text is not None
    assert "worst by 3 at [2, 0]" in failure.text
    assert note("inductor:cpu", "gh7", "error").attrib["message"] == "the harness failed: OSError: no space"
    assert note("inductor:cuda", "gh6", "skipped").attrib["message"] == "no CUDA device here: not measured"
    assert note("inductor:cpu", "gh7", "system-err").text == "Traceback\nOSError"
    assert "not valid Python" in note("records", "repros/gh10_bad.py:3", "error").attrib["message"]


def test_counts_are_those_of_the_cases(report: CheckReport) -> None:
    """Suites and the root count what is in them; a failing verdict is always visible."""
    root = parsed(report)
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        assert element.attrib["tests"] == str(len(cases))
        for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert element.attrib[attribute] == str(sum(c.find(tag) is not None for c in cases))
        assert float(element.attrib["time"]) == pytest.approx(sum(float(c.attrib["time"]) for c in cases))
    shown = states(root)
    for result in report.results:
        seen = {state for (_, name), state in shown.items() if name == result.id}
        assert ("failure" in seen) == result.contradicts
        assert ("error" in seen) == (result.verdict is Verdict.UNRESOLVED)


def test_suites_say_where_they_ran(reports: dict[str, CheckReport]) -> None:
    """Torch, its git hash and the seed are properties; an interrupted check says so."""
    suite = parsed(reports["interrupted"])[0]
    found = properties(suite)
    assert found["torch_git"] == "cf30153c4c131c8164ee7798e5022d810682e2cb"
    assert (found["torch"], found["seed"], found["interrupted"]) == ("2.13.0+cpu", "0", "true")
    assert "interrupted" not in properties(parsed(reports["clear"])[0])


def test_hostile_text_is_cleaned_and_kept(reports: dict[str, CheckReport]) -> None:
    """Colours and forbidden characters go, the words and the end of a CDATA section stay."""
    case = parsed(reports["hostile"]).find("testsuite[@name='inductor:cpu']/testcase[@name='gh1']")
    assert case is not None
    out = case.findtext("system-out")
    assert out is not None
    assert out.startswith("a|b `x` ```y``` red link ")
    assert "]]> <b>&amp; \\" in out
    assert "\x1b" not in out


@given(text=st.text(alphabet=st.characters(codec=None)))
def test_any_text_gives_a_file_that_parses(text: str, worded: Callable[[str], CheckReport]) -> None:
    """No text of a program breaks the file or brings in a character that XML 1.0 forbids."""
    rendered = render("junit", worded(text))
    assert rendered.isascii()
    for element in ET.fromstring(rendered).iter():
        for value in (*element.attrib.values(), element.text or ""):
            assert ALLOWED.fullmatch(value)
