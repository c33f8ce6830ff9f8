"""Measured files: written whole, merged by record and machine, and the shipped ones agree with the records."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

from compilefix import measured
from compilefix.check import CheckReport
from compilefix.errors import RecordError
from compilefix.measured import Cell, Measurement, Row
from compilefix.outcome import REFERENCE, Did, Difference, Outcome, Result, Target, Verdict
from compilefix.registry import Record, discover, read
from compilefix.report import releases
from compilefix.report.signs import RELEASES
from compilefix.upgrade import matrix
from compilefix.upgrade.matrix import State
from tests.runner.test_journal import result
from tests.runner.test_schedule import environment

ROOT = Path(__file__).parents[1]
REGISTRY = {record.id: record for record in discover().records}
DIGESTS = {id: measured.digest(record) for id, record in REGISTRY.items()}
SHIPPED = [(path.stem, m) for path in measured.files() for m in measured.load(path)]

REPRO = '''"""
A record of the tests.

Why: TOLD.
What to do: nothing.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cpu",),
    affected=(Affected(introduced="2.9.0", where=("isa==avx512",)),),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(3, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.sin()
'''


def record(tmp_path: Path, text: str = REPRO) -> Record:
    """Return a record that says: wrong from 2.9.0 on, where the machine has AVX-512."""
    path = tmp_path / "local_measured.py"
    path.write_text(text)
    return read(path)


def row(targets: dict[str, Cell], **changes: object) -> Row:
    """Return a row of these cells."""
    fields: dict[str, object] = {"digest": "d", "recorded": "2026-11-29", "targets": targets}
    return Row(**fields | changes)  # type: ignore[arg-type]


OK, BAD = Cell(did=Did.OK), Cell(did=Did.MISMATCH, symptoms=("wrong-result",))
ABSENT = Cell(did=Did.UNSUPPORTED, reason="no working C++ compiler")
LOST = Cell(did=Did.UNRESOLVED, reason="the worker ended early")


def known(cells: dict[str, Cell], **changes: object) -> Measurement:
    """Return a measurement of the record of the tests."""
    return Measurement(environment=environment(**changes), rows={"local-measured": row({"reference:cpu": OK, **cells})})


def test_a_file_is_written_whole_and_read_back(tmp_path: Path) -> None:
    """What was measured comes back by record; the file holds no times."""
    some = {id: REGISTRY[id] for id in list(REGISTRY)[:2]}
    report = CheckReport(environment=environment(), results=tuple(result(id) for id in some))
    path = measured.write(report, tmp_path, some)
    assert path.name == "torch-2.13.0+cpu-py311-linux-x86_64.json"
    for id in some:
        assert measured.cells(id, tmp_path) == {path.stem: {"eager:cpu": "ok"}}
    assert measured.cells("gh3", tmp_path) == {}
    assert "seconds" not in path.read_text()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    (read_back,) = measured.load(path)
    assert read_back.rows == {id: measured.row(r, result(id)) for id, r in some.items()}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Another schema and half a file are errors, with the path."""
    path = tmp_path / "a.json"
    for text in ("{", '{"schema": 1, "environment": {}, "outcomes": {}}', '{"schema": 2, "outcomes": {}}', "[]"):
        path.write_text(text)
        with pytest.raises(RecordError, match=r"a\.json:1: not a measured file"):
            measured.load(path)


def test_a_cell_keeps_symptoms_claims_and_reasons() -> None:
    """Notes are no symptoms, a reason stays where nothing ran, values do not stay."""
    wrong = Difference(what="alias", leaf="r", symptom=REGISTRY["gh198094"].known.symptom)
    outcome = Outcome(did=Did.MISMATCH, differences=(wrong, replace(wrong, note=True, what="strides")), reason="r")
    cell = Cell.of(outcome, Outcome(did=Did.OK))
    assert cell == Cell(did=Did.MISMATCH, symptoms=("wrong-alias",), workaround="ok")
    claim = Cell.of(Outcome(did=Did.OK, facts={"claim": False}), None)
    assert claim.claim == "does not hold"
    absent = Cell.of(Outcome(did=Did.UNSUPPORTED, reason="no\ncompiler"), None)
    for one in (cell, claim, absent, OK):
        assert Cell.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert absent.reason
    assert OK.to_json() == "ok"


def test_rows_of_other_records_and_other_machines_stay(tmp_path: Path) -> None:
    """A record is replaced, the others stay; another instruction set gets a part of its own."""
    first = Measurement(environment=environment(), rows={"gh1": row({"eager:cpu": OK}), "gh2": row({"eager:cpu": OK})})
    path = measured.merge(first, tmp_path)
    measured.merge(replace(first, rows={"gh2": row({"eager:cpu": BAD}, digest="e")}), tmp_path)
    (whole,) = measured.load(path)
    assert whole.rows == {"gh1": row({"eager:cpu": OK}), "gh2": row({"eager:cpu": BAD}, digest="e")}
    elsewhere = Measurement(environment=environment(isa="avx512"), rows={"gh1": row({"eager:cpu": BAD})})
    assert measured.merge(elsewhere, tmp_path) == path
    assert [part.environment.isa for part in measured.load(path)] == ["avx2", "avx512"]
    assert measured.cells("gh1", tmp_path) == {
        path.stem: {"eager:cpu": "ok"},
        f"{path.stem} (avx512)": {"eager:cpu": "mismatch"},
    }
    assert matrix.read(tmp_path).state("gh1", "2.13.0") is State.BAD


def test_targets_of_the_same_program_are_joined_and_of_another_are_not(tmp_path: Path) -> None:
    """A GPU's targets come to those of the CPU; what an older program did is forgotten."""
    path = measured.merge(known({"inductor:cpu": OK}), tmp_path)
    measured.merge(replace(known({}), rows={"local-measured": row({"inductor:cuda": BAD})}), tmp_path)
    (whole,) = measured.load(path)
    assert set(whole.rows["local-measured"].targets) == {"reference:cpu", "inductor:cpu", "inductor:cuda"}
    measured.merge(replace(known({}), rows={"local-measured": row({"eager:cpu": OK}, digest="new")}), tmp_path)
    (whole,) = measured.load(path)
    assert set(whole.rows["local-measured"].targets) == {"eager:cpu"}


def test_what_only_tells_about_a_program_does_not_change_its_digest(tmp_path: Path) -> None:
    """Words and ranges may be put right; the program, its inputs and how it is judged may not."""
    same = measured.digest(record(tmp_path))
    told = (
        ("TOLD", "another story\nover two lines"),
        ("introduced=", "first_seen="),
        ("import Affected, Issue", "import Issue, Affected"),
        (
            'stage="inductor",\n',
            'stage="inductor",\n    references=("https://github.com/pytorch/pytorch/issues/1",),\n',
        ),
    )
    for old, new in told:
        assert measured.digest(record(tmp_path, REPRO.replace(old, new))) == same, new
    runs = (("x.sin()", "x.cos()"), ("ones(3", "ones(4"), ("WRONG_RESULT", "ERROR"), ('("cpu",)', '("cpu", "cuda")'))
    for old, new in runs:
        assert measured.digest(record(tmp_path, REPRO.replace(old, new))) != same, new


@pytest.mark.parametrize(
    ("cells", "state", "reason"),
    [
        ({"eager:cpu": OK, "inductor:cpu": OK}, State.GOOD, None),
        ({"eager:cpu": OK, "inductor:cpu": BAD}, State.BAD, None),
        ({"eager:cpu": BAD, "inductor:cpu": LOST}, State.BAD, None),
        ({"eager:cpu": OK, "inductor:cpu": ABSENT}, State.NOT_MEASURED, "no working C++ compiler"),
        ({"eager:cpu": OK, "inductor:cpu": LOST}, State.NOT_MEASURED, "the worker ended early"),
        ({"eager:cpu": LOST, "inductor:cpu": OK}, State.NOT_MEASURED, "the worker ended early"),
        ({}, State.NOT_MEASURED, "never run"),
    ],
)
def test_the_three_states_are_never_mixed_up(
    tmp_path: Path, cells: dict[str, Cell], state: State, reason: str | None
) -> None:
    """Only a run that reached the last stage and was judged is good; nothing else passes for it."""
    measured.merge(known(cells), tmp_path)
    seen = matrix.read(tmp_path).seen("local-measured", "2.13.0")
    assert seen.state is state
    assert bool(seen.symptoms) == (state is State.BAD)
    assert (reason or "") in (seen.reason or "")


def test_what_is_beside_the_record_is_another_question(tmp_path: Path) -> None:
    """A CPU record that goes wrong for an interpreted GPU is good, unless that target is asked for."""
    gpu = "inductor:cuda-interpreted"
    beside = row({"reference:cpu": OK, "inductor:cpu": OK}, beside={gpu: BAD})
    measured.merge(replace(known({}), rows={"local-measured": beside}), tmp_path)
    found = matrix.read(tmp_path)
    assert found.state("local-measured", "2.13.0") is State.GOOD
    assert found.state("local-measured", Version("2.13.0"), gpu) is State.BAD
    assert found.state("local-measured", "2.13.0", "inductor:cpu") is State.GOOD
    assert found.state("local-measured", "2.14.0") is State.NOT_MEASURED


def test_what_was_measured_of_an_older_program_is_not_measured(tmp_path: Path) -> None:
    """The row stays in the file, and says nothing any more; a row of no record says nothing either."""
    one = record(tmp_path)
    folder = tmp_path / "measured"
    path = measured.merge(known({"inductor:cpu": BAD}), folder)
    stale = matrix.read(folder, [one]).seen("local-measured", "2.13.0")
    assert (stale.state, stale.reason) == (State.NOT_MEASURED, matrix.CHANGED)
    rows = {"local-measured": row({"inductor:cpu": BAD}, digest=measured.digest(one))}
    measured.merge(replace(known({}), rows=rows), folder)
    assert matrix.read(folder, [one]).state("local-measured", "2.13.0") is State.BAD
    assert matrix.read(folder, []).ids() == ()
    assert len(measured.load(path)[0].rows) == 1


def test_a_release_that_does_not_install_is_in_the_matrix(tmp_path: Path) -> None:
    """With its reason, and nothing about it is good."""
    failed = Measurement(environment=environment(torch="2.5.0"), failed="does not install: no wheel")
    measured.save(tmp_path / "torch-2.5.0.json", [failed])
    measured.merge(known({"inductor:cpu": OK}), tmp_path)
    found = matrix.read(tmp_path)
    assert [str(release) for release in found.releases()] == ["2.5.0", "2.13.0"]
    assert [e.torch for e in found.environments] == ["2.13.0+cpu"]
    assert found.seen("local-measured", "2.5.0").reason == "does not install: no wheel"
    assert found.state("local-measured", "2.5.0") is State.NOT_MEASURED


@pytest.mark.parametrize(
    ("cell", "changes", "verdict", "contradicts"),
    [
        (BAD, {"isa": "avx512"}, Verdict.REPRODUCES, False),
        (BAD, {"isa": "avx2"}, Verdict.REGRESSED, True),
        (BAD, {"isa": "avx512", "torch": "2.8.0"}, Verdict.REGRESSED, True),
        (OK, {"isa": "avx512"}, Verdict.FIXED_EARLY, True),
        (OK, {"isa": "avx2"}, Verdict.CLEAR, False),
        (ABSENT, {"isa": "avx512"}, Verdict.UNSUPPORTED, False),
        (Cell(did=Did.ERROR, symptoms=("error",)), {"isa": "avx512"}, Verdict.DIFFERENT, True),
    ],
)
def test_a_measured_cell_is_held_against_its_record(
    tmp_path: Path, cell: Cell, changes: dict[str, object], verdict: Verdict, contradicts: bool
) -> None:
    """Range and conditions are those of the measured environment, not of this machine."""
    found = measured.result(record(tmp_path), known({"eager:cpu": OK, "inductor:cpu": cell}, **changes))
    assert found is not None
    assert (found.verdict, found.contradicts) == (verdict, contradicts)


def judged() -> list[tuple[str, Result]]:
    """Return every shipped row of a program that is still the same, held against its record."""
    same = [(name, m, id) for name, m in SHIPPED for id, r in m.rows.items() if r.digest == DIGESTS[id]]
    found = [(name, measured.result(REGISTRY[id], m)) for name, m, id in same]
    return [(name, result) for name, result in found if result is not None]


def test_no_shipped_measurement_contradicts_its_record() -> None:
    """
    A record that says affected was not measured good, and none that says unaffected was measured bad.

    There are no exceptions: a record that is wrong about a release is put right, and one that depends on the machine
    says so in `where=` or `requires=`.
    """
    against = {f"{name}: {r.id}": f"{r.verdict.value}, the record says {r.expected.value}" for name, r in judged()}
    odd = {key for name, r in judged() if r.contradicts for key in [f"{name}: {r.id}"]}
    assert {key: against[key] for key in sorted(odd)} == {}


def test_every_shipped_row_is_of_a_record_that_exists() -> None:
    """Ids are never reused and records stay, so a row without a record is a mistake."""
    assert SHIPPED
    assert {id for _, m in SHIPPED for id in m.rows} <= set(REGISTRY)


def test_every_contract_that_ran_has_a_claim() -> None:
    """Its reference says what the plain program does of the statement."""
    for name, found in judged():
        if found.record == "contract":
            plain = [o for t, o in found.outcomes.items() if t.backend == REFERENCE and o.did is Did.OK]
            assert all("claim" in outcome.facts for outcome in plain), f"{name}: {found.id}"


def test_provenance_is_complete() -> None:
    """Each file says which build ran where, and under which name it must lie."""
    for name, measurement in SHIPPED:
        assert name == measurement.environment.slug
        if measurement.failed is None:
            assert measurement.environment.torch_git
            assert all(r.recorded and Target.parse(t) for r in measurement.rows.values() for t in r.targets)


def test_the_page_of_issues_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """``python scripts/generate_docs.py`` writes it; three signs, never mixed up."""
    script = runpy.run_path(str(ROOT / "scripts" / "generate_docs.py"))
    assert script["main"](["--check"]) == 0, capsys.readouterr().err
    signs = {releases._WORDS[state] for state in State}
    assert len(signs) == len({RELEASES[state].symbol for state in State}) == len(State)
    found = matrix.read()
    columns = len(found.releases())
    for line in script["page"]().splitlines():
        if line.startswith(("| [gh", "| gh", "| local-", "| contract-")):
            cells = line.split(" | ")[-columns:]
            id = line.removeprefix("| ").removeprefix("[").split("]")[0].split(" ")[0]
            states = [releases._WORDS[found.state(id, release)] for release in found.releases()]
            assert [cell.removesuffix(" |") for cell in cells] == states, line
