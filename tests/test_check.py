"""The report of a check: exit codes, JSON there and back, and the merging of shards and devices."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilefix.check import SCHEMA, CheckReport, merge
from compilefix.environment import Environment
from compilefix.errors import Exit, UsageError
from compilefix.issue import Expectation, Symptom, Truth
from compilefix.outcome import OF_CONTRACTS, REFERENCE, Did, Difference, Outcome, Result, Target, Verdict
from tests.machines import machine
from tests.test_outcome import RESULTS, TEXT, there_and_back

HERE = machine()
OK, UNSUPPORTED, UNRESOLVED = (Outcome(did=d) for d in (Did.OK, Did.UNSUPPORTED, Did.UNRESOLVED))
WRONG = Outcome(did=Did.MISMATCH, differences=(Difference(what="values", leaf="result"),))
REF, CPU, CUDA = Target(REFERENCE), Target("inductor"), Target("inductor", "cuda")


def row(id: str, verdict: Verdict, outcomes: dict[Target, Outcome] | None = None, **fields: Any) -> Result:
    """Return a result."""
    return Result(
        **{
            "id": id,
            "title": "T",
            "record": "issue",
            "symptom": Symptom.WRONG_RESULT,
            "verdict": verdict,
            "expected": Expectation.UNKNOWN,
            "outcomes": outcomes or {},
        }
        | fields
    )


def report(*results: Result, **fields: Any) -> CheckReport:
    """Return a report of `results`."""
    return CheckReport(**{"environment": HERE, "results": results} | fields)


def of(*verdicts: Verdict, **fields: Any) -> CheckReport:
    """Return a report with one row a verdict."""
    return report(*(row(f"gh{i}", v) for i, v in enumerate(verdicts)), **fields)


V = Verdict
CODES = [
    # verdicts, contradiction, reproduces, never
    ((V.CLEAR,), 0, 0, 0),
    ((V.REPRODUCES,), 0, 1, 0),
    ((V.REPRODUCES, V.CLEAR), 0, 1, 0),
    ((V.REGRESSED,), 1, 1, 0),
    ((V.FIXED_EARLY,), 1, 1, 0),
    ((V.DIFFERENT,), 1, 1, 0),
    ((V.UNRESOLVED,), 4, 4, 4),
    ((V.UNRESOLVED, V.CLEAR), 4, 4, 4),
    ((V.UNRESOLVED, V.REPRODUCES), 4, 1, 4),
    ((V.UNRESOLVED, V.REGRESSED), 1, 1, 4),
    ((V.UNSUPPORTED,), 4, 4, 4),
    ((V.UNSUPPORTED, V.UNSUPPORTED), 4, 4, 4),
    ((V.UNSUPPORTED, V.CLEAR), 0, 0, 0),
    ((V.UNSUPPORTED, V.REPRODUCES), 0, 1, 0),
    ((), 4, 4, 4),
    ((V.DIFFER,), 0, 1, 0),
    ((V.HOLDS, V.DOES_NOT_HOLD), 0, 0, 0),
    ((V.UNRESOLVED, V.HOLDS), 4, 4, 4),
]


@pytest.mark.parametrize(("verdicts", "contradiction", "reproduces", "never"), CODES)
def test_exit_codes(verdicts: tuple[Verdict, ...], contradiction: int, reproduces: int, never: int) -> None:
    """What counts as a finding is the caller's choice; what could not be told is inconclusive in any case."""
    done = of(*verdicts)
    got = [int(done.exit_code(fail_on)) for fail_on in ("contradiction", "reproduces", "never")]
    assert got == [contradiction, reproduces, never]
    assert done.exit_code() == contradiction


@pytest.mark.parametrize("verdicts", [c[0] for c in CODES])
@pytest.mark.parametrize("fail_on", ["contradiction", "reproduces", "never"])
def test_a_broken_record_or_an_interruption_is_never_as_expected(verdicts: tuple[Verdict, ...], fail_on: str) -> None:
    """A record that cannot be read is the harness's failure unless there is a finding; an interruption wins."""
    broken = of(*verdicts, broken=("gh1_x.py:1: no docstring",)).exit_code(fail_on)
    finding = of(*verdicts).exit_code(fail_on) is Exit.FINDINGS
    assert broken is (Exit.FINDINGS if finding else Exit.HARNESS)
    assert of(*verdicts, broken=("x",), interrupted=True).exit_code(fail_on) is Exit.INTERRUPTED


@pytest.mark.parametrize(("truth", "code"), [(Truth.HOLDS, 0), (Truth.DOES_NOT_HOLD, 1), (None, 0)])
def test_a_contract_that_is_otherwise_than_recorded_is_a_finding(truth: Truth | None, code: int) -> None:
    """What contradicts a contract's record counts as what contradicts an issue's does."""
    done = report(row("contract-a", V.HOLDS, {CPU: OK}, record="contract", truth=truth))
    assert [int(done.exit_code(fail_on)) for fail_on in ("contradiction", "reproduces", "never")] == [code, code, 0]


def test_the_summary_counts_in_the_order_of_the_verdicts() -> None:
    """Verdicts that nobody got are left out."""
    done = of(V.CLEAR, V.REPRODUCES, V.CLEAR, V.UNSUPPORTED)
    assert list(done.summary.items()) == [("reproduces", 1), ("clear", 2), ("unsupported", 1)]
    assert of().summary == {}


REPORTS = st.builds(
    CheckReport,
    environment=st.builds(
        Environment,
        torch=TEXT,
        torch_git=st.one_of(st.none(), TEXT),
        python=TEXT,
        system=TEXT,
        machine=TEXT,
        isa=st.one_of(st.none(), TEXT),
        cxx=st.one_of(st.none(), TEXT),
        triton=st.one_of(st.none(), TEXT),
        cuda=st.one_of(st.none(), TEXT),
        numpy=st.one_of(st.none(), TEXT),
        devices=st.sampled_from([("cpu",), ("cpu", "cuda")]),
        threads=st.integers(1, 64),
        missing=st.dictionaries(TEXT, TEXT, max_size=2),
        scrubbed=st.lists(TEXT, max_size=2).map(tuple),
    ),
    results=st.lists(RESULTS, max_size=2, unique_by=lambda r: r.id).map(tuple),
    broken=st.lists(TEXT, max_size=2).map(tuple),
    interrupted=st.booleans(),
    seconds=st.floats(0, 1e6),
    seed=st.integers(0, 2**32),
    warnings=st.lists(TEXT, max_size=2).map(tuple),
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS)
def test_a_report_goes_through_json(done: CheckReport) -> None:
    """Nothing of a report is lost, and merging a report with nothing else changes no row."""
    assert CheckReport.from_json(there_and_back(done.to_json())) == done
    assert merge([done]).results == done.results


def damaged(change: dict[str, Any]) -> Any:
    """Return a report's JSON with fields replaced, or left out where the new value is None."""
    raw = there_and_back(report(row("gh1", V.CLEAR, {CPU: OK})).to_json()) | change
    return {k: v for k, v in raw.items() if v is not None}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([], "not a compilefix check report of schema 1"),
        ("text", "not a compilefix check report of schema 1"),
        (None, "not a compilefix check report of schema 1"),
        ({"schema": SCHEMA}, "not a compilefix check report of schema 1"),
        (damaged({"schema": 2}), "not a compilefix check report of schema 1"),
        (damaged({"schema": None}), "not a compilefix check report of schema 1"),
        (damaged({"environment": None}), "the check report is damaged: KeyError: 'environment'"),
        (damaged({"environment": []}), "the check report is damaged: "),
        (damaged({"environment": {"torch": "2"}}), "the check report is damaged: "),
        (damaged({"results": 5}), "the check report is damaged: TypeError: "),
        (damaged({"results": ["x"]}), "the check report is damaged: TypeError: "),
        (damaged({"results": [{"id": "gh1"}]}), "the check report is damaged: KeyError: 'title'"),
        (damaged({"results": [row("gh1", V.CLEAR).to_json() | {"verdict": "fine"}]}), "'fine' is not a valid Verdict"),
        (damaged({"results": [row("gh1", V.CLEAR).to_json() | {"outcomes": []}]}), "the check report is damaged: "),
        (
            damaged({"results": [row("gh1", V.CLEAR).to_json() | {"outcomes": {"x:y": {}}}]}),
            "unknown target 'x:y'",
        ),
        (
            damaged({"results": [row("gh1", V.CLEAR).to_json() | {"outcomes": {"inductor:cpu": None}}]}),
            "the check report is damaged: ",
        ),
        (damaged({"broken": None}), "the check report is damaged: KeyError: 'broken'"),
    ],
)
def test_another_file_or_a_damaged_one_is_a_mistake_of_the_caller(raw: Any, message: str) -> None:
    """Whatever JSON is given instead of a report, the answer is one line and no traceback."""
    with pytest.raises(UsageError) as caught:
        CheckReport.from_json(raw)
    assert message in str(caught.value)


class TestMerge:
    """Shards of one registry, and devices of one build."""

    def test_shards_add_up(self) -> None:
        """Records of disjoint shards are all there, with times summed, notes joined and an interruption kept."""
        one = report(row("gh1", V.CLEAR), broken=("a:1: x",), warnings=("w",), seconds=1.25, seed=7)
        two = report(
            row("gh2", V.REPRODUCES), broken=("a:1: x", "b:1: y"), warnings=("w",), seconds=2.5, interrupted=True
        )
        done = merge([one, two])
        assert [r.id for r in done.results] == ["gh1", "gh2"]
        assert done.broken == ("a:1: x", "b:1: y")
        assert (done.warnings, done.seconds, done.seed, done.interrupted) == (("w",), 3.75, 7, True)

    def test_another_build_is_refused(self) -> None:
        """Reports of different torch builds are not put together, not even of one version with another git hash."""
        for change in ({"torch": "2.14.1+cpu"}, {"torch_git": "0000"}):
            other = report(environment=dataclasses.replace(HERE, **change))
            with pytest.raises(UsageError, match="the reports are of different torch builds"):
                merge([report(), other])
        with pytest.raises(UsageError, match="nothing to merge"):
            merge([])

    def test_devices_are_joined(self) -> None:
        """The merged environment has the devices of all, and lacks only what all lack."""
        one = dataclasses.replace(HERE, missing={"inductor:cpu": "no C++", "inductor:cuda": "no driver"})
        two = dataclasses.replace(HERE, devices=("cpu", "cuda"), missing={"inductor:cpu": "no C++"})
        done = merge([report(environment=one), report(environment=two)])
        assert done.environment == dataclasses.replace(two, missing={"inductor:cpu": "no C++"})

    @pytest.mark.parametrize(("a", "b"), list(itertools.combinations([v for v in V if v not in OF_CONTRACTS], 2)))
    def test_the_worse_verdict_wins(self, a: Verdict, b: Verdict) -> None:
        """Of two verdicts on one record the worse stays, whichever report comes first."""
        order = [V.REGRESSED, V.DIFFERENT, V.REPRODUCES, V.FIXED_EARLY, V.UNRESOLVED, V.CLEAR, V.UNSUPPORTED]
        want = min(a, b, key=order.index)
        got = [merge([report(row("gh1", v)), report(row("gh1", w))]).results[0].verdict for v, w in ((a, b), (b, a))]
        assert got == [want, want]

    @pytest.mark.parametrize(
        ("truth", "order"),
        [
            (Truth.HOLDS, [V.DIFFER, V.DOES_NOT_HOLD, V.UNRESOLVED, V.HOLDS, V.UNSUPPORTED]),
            (Truth.DOES_NOT_HOLD, [V.DIFFER, V.HOLDS, V.UNRESOLVED, V.DOES_NOT_HOLD, V.UNSUPPORTED]),
            (Truth.DIFFER, [V.DIFFER, V.DOES_NOT_HOLD, V.HOLDS, V.UNRESOLVED, V.UNSUPPORTED]),
            (None, [V.DIFFER, V.UNRESOLVED, V.DOES_NOT_HOLD, V.HOLDS, V.UNSUPPORTED]),
        ],
    )
    def test_what_contradicts_a_contract_wins(self, truth: Truth | None, order: list[Verdict]) -> None:
        """A difference that was seen comes first, then what the record does not say."""
        for a, b in itertools.permutations(order, 2):
            rows = [row("contract-a", v, {CPU: WRONG}, record="contract", truth=truth) for v in (a, b)]
            (joined,) = merge([report(r) for r in rows]).results
            assert joined.verdict is min(a, b, key=order.index)

    def test_outcomes_of_several_devices_are_put_together(self) -> None:
        """A record that was run on the CPU here and on CUDA there has one row with both."""
        cpu = row("gh1", V.CLEAR, {REF: OK, CPU: OK}, workarounds={})
        cuda = row("gh1", V.REPRODUCES, {CUDA: WRONG}, workarounds={CUDA: OK})
        for first, second in ((cpu, cuda), (cuda, cpu)):
            (joined,) = merge([report(first), report(second)]).results
            assert joined.outcomes == {REF: OK, CPU: OK, CUDA: WRONG}
            assert (joined.verdict, joined.first_bad, joined.workarounds) == (V.REPRODUCES, CUDA, {CUDA: OK})

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ((V.REPRODUCES, WRONG), (V.CLEAR, OK)),
            ((V.UNRESOLVED, UNRESOLVED), (V.CLEAR, OK)),
            ((V.REPRODUCES, WRONG), (V.UNRESOLVED, UNRESOLVED)),
            ((V.CLEAR, OK), (V.UNSUPPORTED, UNSUPPORTED)),
        ],
    )
    def test_the_evidence_of_the_verdict_stays(self, a: tuple[Verdict, Outcome], b: tuple[Verdict, Outcome]) -> None:
        """Of two outcomes on one target the one that the joined verdict rests on stays, whichever comes first."""
        rows = [report(row("gh1", verdict, {CPU: outcome}, workarounds={CPU: outcome})) for verdict, outcome in (a, b)]
        for reports in (rows, rows[::-1]):
            (joined,) = merge(reports).results
            assert (joined.verdict, joined.outcomes, joined.workarounds) == (a[0], {CPU: a[1]}, {CPU: a[1]})

    @pytest.mark.parametrize("verdict", [V.REGRESSED, V.HOLDS])
    def test_the_merged_report_is_a_report(self, verdict: Verdict) -> None:
        """It goes through JSON, and its exit code is that of all rows."""
        record, truth = ("contract", Truth.DOES_NOT_HOLD) if verdict is V.HOLDS else ("issue", None)
        done = merge([of(V.CLEAR), report(row("gh9", verdict, record=record, truth=truth))])
        assert CheckReport.from_json(json.loads(json.dumps(done.to_json()))) == done
        assert done.exit_code() is Exit.FINDINGS
