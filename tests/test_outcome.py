"""Targets, outcomes and verdicts: the truth table of `judge`, and JSON there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from compilefix.errors import UsageError
from compilefix.issue import DEVICES, STAGES, Affected, Contract, Expectation, Issue, Known, Symptom, Truth
from compilefix.outcome import (
    BACKENDS,
    OF_CONTRACTS,
    REFERENCE,
    Did,
    Difference,
    Outcome,
    Result,
    Target,
    Verdict,
    judge,
)

RANGE = Affected(introduced="2.1", fixed="2.6")
OLD, NEW = Version("2.5.1+cu124"), Version("2.6.0")
"""Versions that a record with `RANGE` calls affected and unaffected."""

REF, LOW, HIGH = Target(REFERENCE), Target("aot_eager"), Target("inductor")
OK = Outcome(did=Did.OK)
NUMERICS = Outcome(
    did=Did.NUMERICS, differences=(Difference(what="numerics", leaf="result", note=True, symptom=Symptom.WRONG_RESULT),)
)
UNSUPPORTED = Outcome(did=Did.UNSUPPORTED, reason="no C++ compiler")
UNRESOLVED = Outcome(did=Did.UNRESOLVED, reason="killed")


def wrong(*symptoms: Symptom, notes: tuple[Symptom, ...] = ()) -> Outcome:
    """Return a mismatch with a defect for each of `symptoms` and a note for each of `notes`."""
    found = [Difference(what="values", leaf="result", symptom=s) for s in symptoms]
    noted = [Difference(what="strides", leaf="result", symptom=s, note=True) for s in notes]
    return Outcome(did=Did.MISMATCH, differences=(*found, *noted))


WRONG, GRADIENT = wrong(Symptom.WRONG_RESULT), wrong(Symptom.WRONG_GRADIENT)
RAISES = Outcome(did=Did.ERROR, error=("ValueError", "no"))


def issue(stage: str = "inductor", symptom: Symptom = Symptom.WRONG_RESULT, **fields: Any) -> Issue:
    """Return a record that says `RANGE`."""
    return Issue(**{"symptom": symptom, "stage": stage, "affected": (RANGE,)} | fields)


def contract(truth: Truth = Truth.HOLDS, *, differs: bool = False) -> Contract:
    """Return a contract from which compiled code strays on the releases of `RANGE`, or on none."""
    return Contract(statement="It holds.", truth=truth, differs=(RANGE,) if differs else ())


TRUE, FALSE = (Outcome(did=Did.OK, facts={"claim": claim}) for claim in (True, False))
"""References of a contract."""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_target_is_read_as_it_is_written(backend: str, device: str, dynamic: bool) -> None:
    """Parsing the text of a target gives that target, with the CPU and static shapes as the short form."""
    target = Target(backend, device, dynamic)
    assert Target.parse(str(target)) == target
    assert str(target) == f"{backend}:{device}" + ":dynamic" * dynamic
    if device == "cpu":
        assert Target.parse(backend + ":dynamic" * dynamic) == target


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "inductor:",
        "inductor:tpu",
        "inductor:cpu:static",
        "inductor:cpu:dynamic:dynamic",
        "inductor:dynamic:cpu",
        "inductor:cpu:cpu",
        "Inductor",
        "inductor cpu",
        "cpu",
        "dynamic",
        "aot",
        "inductor::dynamic",
    ],
)
def test_other_texts_are_no_targets(text: str) -> None:
    """What is no target is refused with the words that may stand there."""
    with pytest.raises(UsageError) as caught:
        Target.parse(text)
    message = str(caught.value)
    assert message.startswith(f"unknown target {text!r}; write BACKEND[:DEVICE][:dynamic]")
    assert all(word in message for word in (*BACKENDS, *DEVICES))


def test_the_ladder_goes_from_the_reference_to_inductor() -> None:
    """Ranks follow the layers of torch.compile."""
    assert [Target(b).rank for b in ("reference", *STAGES)] == [0, 1, 2, 3, 4]


def test_which_outcomes_are_bad() -> None:
    """Rounding, a missing device and a harness that cannot tell are no misbehaviour of the compiled program."""
    assert {d.value for d in Did if d.bad} == {"mismatch", "error", "missing-error", "crash", "hang"}


@pytest.mark.parametrize(
    ("outcome", "symptoms"),
    [
        (OK, set()),
        (NUMERICS, set()),
        (UNSUPPORTED, set()),
        (UNRESOLVED, set()),
        (RAISES, {Symptom.ERROR}),
        (Outcome(did=Did.MISSING_ERROR), {Symptom.MISSING_ERROR}),
        (Outcome(did=Did.CRASH), {Symptom.CRASH}),
        (Outcome(did=Did.HANG), {Symptom.HANG}),
        (wrong(Symptom.WRONG_RESULT, Symptom.WRONG_ALIAS), {Symptom.WRONG_RESULT, Symptom.WRONG_ALIAS}),
        (wrong(Symptom.RECOMPILE, notes=(Symptom.WRONG_RESULT,)), {Symptom.RECOMPILE}),
        (Outcome(did=Did.CRASH, differences=WRONG.differences), {Symptom.CRASH}),
    ],
)
def test_what_a_user_sees_of_an_outcome(outcome: Outcome, symptoms: set[Symptom]) -> None:
    """Each bad outcome has its symptom, a mismatch those of its differences that are no notes."""
    assert outcome.symptoms == symptoms


TABLE: list[tuple[Known, Version, dict[Target, Outcome], Verdict]] = [
    # the recorded symptom is there
    (issue(), OLD, {REF: OK, LOW: OK, HIGH: WRONG}, Verdict.REPRODUCES),
    (issue(), NEW, {REF: OK, LOW: OK, HIGH: WRONG}, Verdict.REGRESSED),
    (issue(affected=()), NEW, {REF: OK, HIGH: WRONG}, Verdict.REPRODUCES),
    (issue(disputed="no"), OLD, {REF: OK, HIGH: WRONG}, Verdict.REGRESSED),
    # a contract: any difference is one, whatever the record says and whatever the claim is
    (contract(), NEW, {REF: TRUE, HIGH: WRONG}, Verdict.DIFFER),
    (contract(), NEW, {REF: FALSE, LOW: RAISES, HIGH: OK}, Verdict.DIFFER),
    (contract(differs=True), OLD, {REF: TRUE, HIGH: GRADIENT}, Verdict.DIFFER),
    (contract(), NEW, {REF: TRUE, LOW: UNRESOLVED, HIGH: WRONG}, Verdict.DIFFER),
    # on an earlier stage, on one target of many, beside other symptoms, beside what cannot tell
    (issue(), OLD, {REF: OK, LOW: WRONG}, Verdict.REPRODUCES),
    (issue(), OLD, {REF: OK, HIGH: OK, Target("inductor", dynamic=True): WRONG}, Verdict.REPRODUCES),
    (issue(), OLD, {REF: OK, LOW: RAISES, HIGH: WRONG}, Verdict.REPRODUCES),
    (issue(), OLD, {REF: OK, HIGH: wrong(Symptom.WRONG_ALIAS, Symptom.WRONG_RESULT)}, Verdict.REPRODUCES),
    (issue(), OLD, {REF: OK, LOW: UNRESOLVED, HIGH: WRONG}, Verdict.REPRODUCES),
    (issue(), OLD, {REF: OK, LOW: UNSUPPORTED, HIGH: WRONG}, Verdict.REPRODUCES),
    (issue(symptom=Symptom.ERROR), OLD, {REF: OK, HIGH: RAISES}, Verdict.REPRODUCES),
    (issue(symptom=Symptom.CRASH), OLD, {REF: OK, HIGH: Outcome(did=Did.CRASH)}, Verdict.REPRODUCES),
    (issue(symptom=Symptom.HANG), NEW, {REF: OK, HIGH: Outcome(did=Did.HANG)}, Verdict.REGRESSED),
    # another symptom
    (issue(), OLD, {REF: OK, HIGH: GRADIENT}, Verdict.DIFFERENT),
    (issue(), NEW, {REF: OK, HIGH: RAISES}, Verdict.DIFFERENT),
    (issue(affected=()), NEW, {REF: OK, LOW: UNRESOLVED, HIGH: RAISES}, Verdict.DIFFERENT),
    (issue(), OLD, {REF: OK, HIGH: wrong(Symptom.WRONG_ALIAS, notes=(Symptom.WRONG_RESULT,))}, Verdict.DIFFERENT),
    # nothing wrong, and the stage was reached
    (issue(), OLD, {REF: OK, LOW: OK, HIGH: OK}, Verdict.FIXED_EARLY),
    (issue(), NEW, {REF: OK, LOW: OK, HIGH: OK}, Verdict.CLEAR),
    (issue(affected=()), NEW, {REF: OK, HIGH: OK}, Verdict.CLEAR),
    (issue(), OLD, {REF: OK, HIGH: NUMERICS}, Verdict.FIXED_EARLY),
    (issue(), NEW, {REF: OK, HIGH: NUMERICS}, Verdict.CLEAR),
    (issue("aot_eager"), OLD, {REF: OK, LOW: OK, HIGH: UNSUPPORTED}, Verdict.FIXED_EARLY),
    (issue("eager"), OLD, {REF: OK, HIGH: OK}, Verdict.FIXED_EARLY),
    (issue(), NEW, {REF: OK, LOW: UNSUPPORTED, HIGH: OK}, Verdict.CLEAR),
    # a contract: nothing differs, so the claim decides; on several devices all must grant it
    (contract(), NEW, {REF: TRUE, HIGH: OK}, Verdict.HOLDS),
    (contract(), NEW, {REF: FALSE, HIGH: NUMERICS}, Verdict.DOES_NOT_HOLD),
    (contract(differs=True), OLD, {REF: TRUE, HIGH: OK}, Verdict.HOLDS),
    (contract(), NEW, {REF: TRUE, Target(REFERENCE, "cuda"): FALSE, HIGH: OK}, Verdict.DOES_NOT_HOLD),
    (contract(), NEW, {REF: TRUE, LOW: OK}, Verdict.HOLDS),
    (contract(), NEW, {REF: OK, HIGH: OK}, Verdict.UNRESOLVED),
    # nothing wrong, but the stage was not reached: that contradicts no record
    (issue(), OLD, {REF: OK, LOW: OK}, Verdict.UNSUPPORTED),
    (contract(differs=True), OLD, {REF: TRUE, LOW: OK}, Verdict.UNSUPPORTED),
    (contract(), NEW, {REF: TRUE, LOW: OK, HIGH: UNSUPPORTED}, Verdict.UNSUPPORTED),
    (contract(), NEW, {REF: TRUE}, Verdict.UNSUPPORTED),
    (issue(), OLD, {REF: OK, LOW: OK, HIGH: UNSUPPORTED}, Verdict.UNSUPPORTED),
    (issue(), NEW, {REF: OK, LOW: OK, HIGH: UNSUPPORTED}, Verdict.UNSUPPORTED),
    (issue(), NEW, {REF: OK, LOW: OK}, Verdict.CLEAR),
    (issue(affected=()), OLD, {REF: OK, LOW: OK}, Verdict.CLEAR),
    # nothing ran
    (issue(), OLD, {REF: UNSUPPORTED, LOW: UNSUPPORTED, HIGH: UNSUPPORTED}, Verdict.UNSUPPORTED),
    (issue(), OLD, {REF: OK}, Verdict.UNSUPPORTED),
    (issue(), NEW, {}, Verdict.UNSUPPORTED),
    # the harness cannot tell
    (issue(), OLD, {REF: UNRESOLVED, LOW: UNRESOLVED, HIGH: UNRESOLVED}, Verdict.UNRESOLVED),
    (issue(), OLD, {REF: UNRESOLVED, HIGH: WRONG}, Verdict.UNRESOLVED),
    (contract(), NEW, {REF: UNRESOLVED, HIGH: OK}, Verdict.UNRESOLVED),
    (contract(), NEW, {REF: TRUE, HIGH: UNRESOLVED}, Verdict.UNRESOLVED),
    (issue(), OLD, {REF: OK, LOW: OK, HIGH: UNRESOLVED}, Verdict.UNRESOLVED),
    (issue(), NEW, {REF: OK, LOW: UNRESOLVED, HIGH: OK}, Verdict.UNRESOLVED),
    (issue(), NEW, {REF: OK, LOW: UNRESOLVED, HIGH: UNSUPPORTED}, Verdict.UNRESOLVED),
]


@pytest.mark.parametrize(("known", "version", "outcomes", "verdict"), TABLE, ids=lambda v: getattr(v, "value", ""))
def test_the_truth_table(known: Known, version: Version, outcomes: dict[Target, Outcome], verdict: Verdict) -> None:
    """Each combination of record, version and outcomes has its one verdict, whatever the order of the outcomes."""
    assert judge(known, version, outcomes) is verdict
    assert judge(known, version, dict(reversed(outcomes.items()))) is verdict


def test_the_table_has_every_verdict() -> None:
    """No verdict is left untested."""
    assert {verdict for *_, verdict in TABLE} == set(Verdict)


def row(**fields: Any) -> Result:
    """Return a row on which Inductor gives a wrong result."""
    standard = {
        "id": "gh1",
        "title": "T",
        "record": "issue",
        "symptom": Symptom.WRONG_RESULT,
        "verdict": Verdict.CLEAR,
        "expected": Expectation.UNKNOWN,
        "outcomes": {REF: OK, HIGH: WRONG},
    }
    return Result(**standard | fields)


def test_what_contradicts_an_issue() -> None:
    """A defect that came back, one gone early, and another symptom contradict; not being able to tell does not."""
    against = {v.value for v in Verdict if row(verdict=v).contradicts}
    assert against == {"regressed", "fixed-early", "different"}


@pytest.mark.parametrize("truth", [None, *Truth])
@pytest.mark.parametrize("verdict", Verdict)
def test_what_contradicts_a_contract(truth: Truth | None, verdict: Verdict) -> None:
    """Another of the three words than the recorded one; nothing where the record, or the check, does not know."""
    words = {t.value for t in Truth}
    want = truth is not None and verdict.value in words and verdict.value != truth.value
    assert row(record="contract", truth=truth, verdict=verdict).contradicts is want


def test_a_difference_of_another_kind_contradicts_a_contract() -> None:
    """Compiled code that strays otherwise than recorded is a finding, unless the record does not know this version."""
    fields: dict[str, Any] = {"record": "contract", "verdict": Verdict.DIFFER, "symptom": Symptom.CRASH}
    assert row(**fields, truth=Truth.DIFFER).contradicts
    assert not row(**fields, truth=None).contradicts


def test_a_contract_is_called_by_its_statement() -> None:
    """An issue has its title; what speaks against a statement comes from the reference."""
    assert row().label == "T"
    told = row(statement="It holds.", outcomes={REF: Outcome(did=Did.OK, facts={"against": "told 1, is 2"}), HIGH: OK})
    assert (told.label, told.against) == ("“It holds.”", "told 1, is 2")
    assert row().against is None


OUTCOMES = st.sampled_from([OK, NUMERICS, WRONG, GRADIENT, RAISES, UNSUPPORTED, UNRESOLVED, TRUE, FALSE])
TARGETS = st.builds(Target, st.sampled_from(BACKENDS), st.sampled_from(DEVICES), st.booleans())
KNOWN = st.one_of(
    st.builds(issue, st.sampled_from(STAGES), st.sampled_from(Symptom), affected=st.sampled_from([(), (RANGE,)])),
    st.builds(contract, st.sampled_from([Truth.HOLDS, Truth.DOES_NOT_HOLD]), differs=st.booleans()),
)


@given(KNOWN, st.sampled_from([OLD, NEW]), st.dictionaries(TARGETS, OUTCOMES, max_size=6))
def test_no_verdict_without_evidence(known: Known, version: Version, outcomes: dict[Target, Outcome]) -> None:
    """Whatever happened: a verdict that names a defect has seen one, and a record is not contradicted by silence."""
    verdict = judge(known, version, outcomes)
    compiled = {t: o for t, o in outcomes.items() if t.backend != REFERENCE}
    seen = {s for o in compiled.values() for s in o.symptoms}
    if isinstance(known, Contract):
        assert verdict in (*OF_CONTRACTS, Verdict.UNSUPPORTED, Verdict.UNRESOLVED)
        assert bool(seen) == (verdict is Verdict.DIFFER) or verdict is Verdict.UNRESOLVED
        claims = {o.facts["claim"] for t, o in outcomes.items() if t.backend == REFERENCE and o.facts}
        assert verdict is not Verdict.HOLDS or claims == {True}
        assert verdict is not Verdict.DOES_NOT_HOLD or False in claims
        return
    if verdict in (Verdict.REPRODUCES, Verdict.REGRESSED):
        assert known.symptom in seen
    elif verdict is Verdict.DIFFERENT:
        assert seen
        assert known.symptom not in seen
    elif verdict is not Verdict.UNRESOLVED:
        assert not seen
    if verdict is Verdict.FIXED_EARLY:
        stages = [STAGES.index(t.backend) for t, o in compiled.items() if o.did in (Did.OK, Did.NUMERICS)]
        assert max(stages) >= STAGES.index(known.stage)
        assert known.expectation(version) is Expectation.AFFECTED
    if verdict is Verdict.CLEAR:
        assert known.expectation(version) is not Expectation.AFFECTED
        assert any(o.did in (Did.OK, Did.NUMERICS) for o in compiled.values())


TEXT = st.text(max_size=8)
SECONDS = st.one_of(st.none(), st.floats(0, 1e6))
INDEX = st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=3).map(tuple))
VALUE = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT)
COUNT = st.one_of(st.none(), st.integers(0, 10**9))
DIFFERENCES = st.builds(
    Difference,
    what=st.sampled_from(["values", "numerics", "strides"]),
    leaf=TEXT,
    where=INDEX,
    got=VALUE,
    want=st.one_of(VALUE, st.lists(st.integers(0, 5), max_size=3)),
    worst=st.one_of(st.none(), st.floats(0, 1e300)),
    worst_at=INDEX,
    count=COUNT,
    total=COUNT,
    note=st.booleans(),
    symptom=st.sampled_from(Symptom),
)
TALES = st.sampled_from([d for d in Did if d.bad or d is Did.UNRESOLVED])
FACTS = st.dictionaries(TEXT, st.one_of(st.integers(), TEXT), max_size=2)


def outcomes_with(did: st.SearchStrategy[Did], output: st.SearchStrategy[str]) -> st.SearchStrategy[Outcome]:
    """Draw outcomes."""
    return st.builds(
        Outcome,
        did=did,
        reason=st.one_of(st.none(), TEXT),
        differences=st.lists(DIFFERENCES, max_size=2).map(tuple),
        error=st.one_of(st.none(), st.tuples(TEXT, TEXT)),
        facts=FACTS,
        seconds=SECONDS,
        cpu_seconds=SECONDS,
        stdout=output,
        stderr=output,
    )


ANY_OUTCOME = st.one_of(outcomes_with(TALES, TEXT), outcomes_with(st.sampled_from(Did), st.just("")))
RESULTS = st.builds(
    Result,
    id=TEXT,
    title=TEXT,
    record=st.sampled_from(["issue", "contract"]),
    statement=st.one_of(st.none(), TEXT),
    truth=st.one_of(st.none(), st.sampled_from(Truth)),
    symptom=st.sampled_from(Symptom),
    verdict=st.sampled_from(Verdict),
    expected=st.sampled_from(Expectation),
    outcomes=st.dictionaries(TARGETS, ANY_OUTCOME, max_size=3),
    workarounds=st.dictionaries(TARGETS, ANY_OUTCOME, max_size=2),
)


def there_and_back(raw: Any) -> Any:
    """Send a JSON object through its strict text."""
    return json.loads(json.dumps(raw, allow_nan=False))


@given(DIFFERENCES)
def test_a_difference_goes_through_json(difference: Difference) -> None:
    """Nothing of a difference is lost, zeros and empty indices included."""
    assert Difference.from_json(there_and_back(difference.to_json())) == difference


def test_zeros_and_the_empty_index_are_written() -> None:
    """A worst error of 0.0 is a number and () is a place; only what is unset is left out."""
    raw = Difference(what="values", leaf="r", where=(), worst=0.0, worst_at=(), count=0).to_json()
    assert (raw["where"], raw["worst"], raw["worst_at"], raw["count"]) == ([], 0.0, [], 0)
    assert set(Difference(what="values", leaf="r").to_json()) == {"what", "leaf", "where", "got", "want", "symptom"}


@given(ANY_OUTCOME)
def test_an_outcome_goes_through_json(outcome: Outcome) -> None:
    """Nothing of an outcome is lost."""
    assert Outcome.from_json(there_and_back(outcome.to_json())) == outcome


def test_output_is_kept_where_something_went_wrong() -> None:
    """The output of a healthy run is not carried along."""
    for did in Did:
        raw = Outcome(did=did, stdout="out", stderr="err").to_json()
        assert ("stdout" in raw, "stderr" in raw) == ((did.bad or did is Did.UNRESOLVED,) * 2)


@given(RESULTS)
def test_a_result_goes_through_json(result: Result) -> None:
    """Nothing of a row is lost."""
    assert Result.from_json(there_and_back(result.to_json())) == result


@pytest.mark.parametrize(
    ("outcomes", "first"),
    [
        ({REF: OK, LOW: OK, HIGH: OK}, None),
        ({HIGH: WRONG, LOW: WRONG, REF: OK}, LOW),
        ({REF: OK, LOW: UNRESOLVED, HIGH: WRONG}, HIGH),
        ({Target("inductor", "cuda"): WRONG, HIGH: WRONG}, HIGH),
        (
            {Target("inductor", dynamic=True): WRONG, Target("inductor", "cuda"): WRONG},
            Target("inductor", dynamic=True),
        ),
        ({REF: RAISES, LOW: OK}, None),
    ],
)
def test_the_first_bad_target_is_the_lowest_layer(outcomes: dict[Target, Outcome], first: Target | None) -> None:
    """The first target of the ladder that misbehaves is named, the reference never."""
    result = row(outcomes=outcomes)
    assert result.first_bad == first
    assert result.to_json()["first_bad"] == (str(first) if first else None)


INTERPRETED_TARGET = Target("inductor", "cuda-interpreted")


def test_an_interpreted_target_has_its_data_and_its_reference_on_the_cpu() -> None:
    """Only Inductor has such a target; dynamic shapes go with it."""
    target = Target.parse("inductor:cuda-interpreted:dynamic")
    assert (target.interpreted, target.data_device, target.reference) == (True, "cpu", Target(REFERENCE, "cpu"))
    assert str(target) == "inductor:cuda-interpreted:dynamic"
    assert Target("inductor", "cuda").reference == Target(REFERENCE, "cuda")
    with pytest.raises(UsageError, match="on cuda-interpreted only inductor runs"):
        Target.parse("aot_eager:cuda-interpreted")


@pytest.mark.parametrize(
    ("devices", "cpu", "interpreted", "verdict"),
    [
        (("cuda",), None, WRONG, Verdict.REPRODUCES),
        (("cuda",), None, OK, Verdict.FIXED_EARLY),
        (("cuda",), None, UNSUPPORTED, Verdict.UNSUPPORTED),
        (("cpu", "cuda"), OK, WRONG, Verdict.REPRODUCES),
        (("cpu", "cuda"), WRONG, OK, Verdict.REPRODUCES),
        (("cpu",), None, WRONG, Verdict.REPRODUCES),
        (("cpu",), None, OK, Verdict.CLEAR),
        (("cpu",), None, GRADIENT, Verdict.DIFFERENT),
        (("cpu",), None, UNSUPPORTED, Verdict.UNSUPPORTED),
        (("cpu",), None, UNRESOLVED, Verdict.UNRESOLVED),
        (("cpu",), OK, WRONG, Verdict.FIXED_EARLY),
        (("cpu",), WRONG, OK, Verdict.REPRODUCES),
    ],
)
def test_interpreting_contradicts_only_records_about_cuda(
    devices: tuple[str, ...], cpu: Outcome | None, interpreted: Outcome, verdict: Verdict
) -> None:
    """The record says that the release is affected, on its devices."""
    outcomes = {REF: OK, INTERPRETED_TARGET: interpreted} | ({HIGH: cpu} if cpu else {})
    assert judge(issue(devices=devices), OLD, outcomes) is verdict
