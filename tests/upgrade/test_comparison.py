"""Two runs are held against each other by signature; what is no baseline is never called passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.errors import Exit
from compilefix.issue import Affected, Issue, Symptom
from compilefix.registry import Record
from compilefix.upgrade.commands import Run
from compilefix.upgrade.comparison import Comparison, Group, Status, compare
from compilefix.upgrade.signature import Failure

A, B = "2.9.1", "2.14.1"


def failure(test: str, message: str = "boom", **changes: str) -> Failure:
    """Return a failure of one test."""
    fields = {"when": "call", "error": "RuntimeError", "frame": "m.py:f"} | changes
    return Failure(test=test, message=message, **fields)


def run(release: str, passed: tuple[str, ...] = (), *failures: Failure, **changes: object) -> Run:
    """Return a run."""
    return Run(release=release, torch=release, exit_code=0, passed=passed, failures=failures, **changes)  # type: ignore[arg-type]


def only(found: Comparison) -> Group:
    """Return the one group."""
    assert len(found.groups) == 1
    return found.groups[0]


def test_a_failure_of_a_test_that_passed_is_a_regression() -> None:
    """Tests with one cause are one group."""
    found = compare(["pytest"], run(A, ("a", "b")), run(B, (), failure("a", "boom 1"), failure("b", "boom 2")))
    assert (only(found).status, only(found).tests) == (Status.REGRESSED, ("a", "b"))
    assert found.exit_code() is Exit.FINDINGS


def test_the_same_failure_under_another_name_fails_on_both() -> None:
    """A renamed test is no regression and no fix."""
    found = compare(["pytest"], run(A, (), failure("old")), run(B, (), failure("new")))
    assert only(found).status is Status.BOTH
    assert found.exit_code() is Exit.EXPECTED


def test_a_known_failure_that_spreads_to_passing_tests_is_a_regression() -> None:
    """The group that fails on both does not swallow it."""
    found = compare(["pytest"], run(A, ("b",), failure("a")), run(B, (), failure("a"), failure("b")))
    assert [(g.status, g.tests) for g in found.groups] == [(Status.REGRESSED, ("b",)), (Status.BOTH, ("a",))]


def test_fixed_needs_a_test_that_passes_now() -> None:
    """A failure that gives way to another one is gone, not fixed, and the other one is new."""
    found = compare(["pytest"], run(A, (), failure("a"), failure("b", "other")), run(B, ("a",), failure("b", "third")))
    assert {(g.status, g.tests) for g in found.groups} == {
        (Status.FIXED, ("a",)),
        (Status.GONE, ("b",)),
        (Status.NEW, ("b",)),
    }


def test_a_test_that_did_not_run_before_is_new_only() -> None:
    """Nothing is said to have passed that was not seen to pass."""
    found = compare(["pytest"], run(A, ("x",)), run(B, ("x",), failure("a")))
    assert only(found).status is Status.NEW
    assert "did not run" in only(found).note


@pytest.mark.parametrize(
    "before",
    [
        run(A, ("a",), invalid="interrupted (SIGINT)"),
        run(A, (), failure("t.py", "No module named 'net'", when="collect", error="ModuleNotFoundError")),
        run(A, (), failure("python x.py", "cannot import name 'y' from 'torch'", when="command", error="ImportError")),
    ],
    ids=["interrupted", "collection", "import"],
)
def test_a_run_that_died_of_something_else_is_no_baseline(before: Run) -> None:
    """Then nothing regressed, nothing is fixed, and the exit code says inconclusive."""
    found = compare(["pytest"], before, run(B, (), failure("a")))
    assert found.baseline is not None
    assert {g.status for g in found.groups} == {Status.NEW}
    assert found.exit_code() is Exit.INCONCLUSIVE


def test_a_file_that_no_longer_collects_regresses_where_its_tests_passed() -> None:
    """An API that the new release removed shows when a module is imported."""
    broken = failure("tests/t.py", "cannot import name 'x' from 'torch._y'", when="collect", error="ImportError")
    found = compare(["pytest"], run(A, ("tests/t.py::a", "tests/u.py::b")), run(B, (), broken))
    assert only(found).status is Status.REGRESSED


def record(id: str, **fields: object) -> Record:
    """Return a record that affects the new release."""
    known = Issue(stage="inductor", affected=(Affected(introduced="2.10"),), **fields)  # type: ignore[arg-type]
    return Record(id, Path(f"{id}.py"), 1, f"title of {id}", "", "", known, ("program",))


RECORDS = (
    record("gh1", symptom=Symptom.ERROR, matches=(r"LoweringException", r"aten\.scatter")),
    record("gh2", symptom=Symptom.WRONG_RESULT, ops=("slice_scatter",)),
    record("gh3", symptom=Symptom.CRASH, ops=("slice_scatter",)),
)


def test_records_are_matched_by_their_expressions_all_of_them() -> None:
    """One of two is not enough."""
    for message, ids in (("LoweringException: x\n target: aten.scatter.src", ["gh1"]), ("LoweringException: x", [])):
        found = compare(["pytest"], run(A, ("a",)), run(B, (), failure("a", message)), RECORDS)
        assert [m.id for m in only(found).matches] == ids


def test_a_failed_assertion_is_matched_by_the_ops_that_the_code_calls() -> None:
    """The symptom must fit: a crash is no wrong result."""
    wrong = failure("a", error="AssertionError", source="def a():\n    y = torch.slice_scatter(x, s)\n")
    found = compare(["pytest"], run(A, ("a",)), run(B, (), wrong), RECORDS)
    assert [(m.id, m.by) for m in only(found).matches] == [("gh2", "op")]


def test_an_op_explains_only_what_changes_with_it() -> None:
    """A record that affects both releases does not explain a regression, and explains what fails on both."""
    wrong = failure("a", error="AssertionError", source="slice_scatter(x)")
    runs = {Status.REGRESSED: (("a",), ()), Status.BOTH: ((), (wrong,))}
    for status, (passed, failures) in runs.items():
        for everywhere in (True, False):
            found = compare(
                ["pytest"],
                run(A, passed, *failures),
                run(B, (), wrong),
                RECORDS,
                affects=lambda record, release, everywhere=everywhere: everywhere or release == B,  # type: ignore[misc]
            )
            assert only(found).status is status
            assert bool(only(found).matches) == (everywhere == (status is Status.BOTH))


def test_the_report_survives_json() -> None:
    """What is written is read back."""
    wrong = failure("a", error="AssertionError", source="slice_scatter(x)")
    found = compare(["pytest", "-q"], run(A, ("a",)), run(B, (), wrong), RECORDS, commit="abc")
    assert Comparison.from_json(found.to_json()) == found
