"""The shipped registry on the installed torch: what the records say is what happens."""

from __future__ import annotations

import pytest

from compilefix import registry, runner
from compilefix.check import CheckReport
from compilefix.issue import Symptom
from compilefix.outcome import OF_CONTRACTS, PRESENT, Did, Verdict
from compilefix.progress import Silent
from tests.conftest import CACHE

pytestmark = pytest.mark.slow
REGISTRY = registry.discover()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    """Run everything once."""
    return runner.check(
        REGISTRY.records,
        watcher=Silent(),
        options=runner.Options(jobs=2, timeout=240.0),
        cache=CACHE,
        journal=tmp_path_factory.mktemp("journal"),
    )


def test_every_record_is_resolved_and_none_is_contradicted(report: CheckReport) -> None:
    """No record is unresolved, and this torch contradicts none."""
    odd = {r.id: r.verdict.value for r in report.results if r.contradicts or r.verdict is Verdict.UNRESOLVED}
    assert odd == {}
    assert len(report.results) == len(REGISTRY.records)


def test_what_reproduces_goes_wrong_first_at_the_recorded_stage(report: CheckReport) -> None:
    """The first bad stage is the one that the record names."""
    wrong = {
        r.id: (r.first_bad and r.first_bad.backend, REGISTRY.get(r.id).known.stage)
        for r in report.results
        if r.verdict in PRESENT
    }
    assert {id: pair for id, pair in wrong.items() if pair[0] != pair[1]} == {}


def test_every_workaround_works_where_the_program_does_not(report: CheckReport) -> None:
    """A workaround is right on each target on which its program misbehaves, or there is none."""
    failed = {
        f"{r.id} {target}": outcome.reason
        for r in report.results
        for target, outcome in r.workarounds.items()
        if outcome.did not in (Did.OK, Did.NUMERICS)
    }
    # there plain code raises (from 2.14 on, and up to 2.14), and the workaround does what the caller meant instead
    assert {k: v for k, v in failed.items() if not k.startswith(("gh188224 ", "gh198071 "))} == {}


def test_the_registry_covers_every_symptom() -> None:
    """At least three issues of each common symptom, and one of each other."""
    issues = [r for r in REGISTRY.records if r.kind == "issue"]
    counts = {symptom: sum(r.known.symptom is symptom for r in issues) for symptom in Symptom}
    three = {"wrong-result", "wrong-alias", "wrong-gradient", "missing-error", "error"}
    assert [s.value for s, n in counts.items() if n < (3 if s.value in three else 1)] == []
    assert len(issues) >= 25


def test_contracts_are_judged_true_and_false(report: CheckReport) -> None:
    """At least 22 statements are in the registry, the measured ones have each of the three verdicts."""
    contracts = [r for r in report.results if r.record == "contract"]
    assert len(contracts) >= 22
    assert {r.verdict for r in contracts} >= set(OF_CONTRACTS)
    refuted = [r for r in contracts if r.verdict is Verdict.DOES_NOT_HOLD]
    assert [r.id for r in refuted if r.against is None] == []


def test_the_slice_scatter_story_is_told_as_measured(report: CheckReport) -> None:
    """gh145189: values equal, written in place, one kernel with and without padding on a CPU."""
    (result,) = (r for r in report.results if r.id == "gh145189")
    assert result.verdict is Verdict.CLEAR
    facts = next(o.facts for t, o in result.outcomes.items() if str(t) == "inductor:cpu")
    assert facts["written in place"] is True
    assert facts["kernels (shape_padding off)"] == 1
    assert facts["kernels (shape_padding on)"] == 1


def test_matches_of_error_records_recognise_the_error(report: CheckReport) -> None:
    """The patterns that a diagnosis searches for are found in the error that this torch raises."""
    import re

    for result in report.results:
        known = REGISTRY.get(result.id).known
        patterns = getattr(known, "matches", ())
        errors = [o.error[1] for o in result.outcomes.values() if o.did is Did.ERROR and o.error]
        if patterns and errors:
            assert all(any(re.search(p, error) for error in errors) for p in patterns), result.id
