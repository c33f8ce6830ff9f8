"""What appears, stays and goes: measured first, then the record's word, and never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.environment import Environment
from compilefix.errors import Exit, UsageError
from compilefix.issue import Affected, Contract, Issue, Symptom, Truth
from compilefix.measured import Cell, Measurement
from compilefix.measured import Row as MeasuredRow
from compilefix.outcome import Did
from compilefix.registry import Record
from compilefix.scan import Finding, ScanReport
from compilefix.upgrade import lines as of_lines
from compilefix.upgrade.difference import Change, Line, UpgradeReport, difference, unmeasured
from compilefix.upgrade.matrix import Matrix

A, B = "2.9.1", "2.14.1"


def measurement(torch: str, **rows: dict[str, str]) -> Measurement:
    """Return what was measured on one release: id to target to outcome word."""
    environment = Environment(
        torch=torch,
        torch_git=None,
        python="3.11.7",
        system="Linux",
        machine="x86_64",
        isa=None,
        cxx=None,
        triton=None,
        cuda=None,
    )
    whole = {}
    for id, targets in rows.items():
        cells = {}
        for target, word in targets.items():
            did, _, claim = word.partition(", ")
            symptoms = ({"mismatch": "wrong-result"}.get(did, did),) if Did(did).bad else ()
            cells[target] = Cell(did=Did(did), symptoms=symptoms, claim=claim or None)
        whole[id] = MeasuredRow(digest="x", recorded="2026-01-01", targets=cells)
    return Measurement(environment=environment, rows=whole)


def issue(id: str, *affected: Affected, devices: tuple[str, ...] = ("cpu",), **fields: object) -> Record:
    """Return a record."""
    known = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor", devices=devices, affected=affected, **fields)  # type: ignore[arg-type]
    return Record(id, Path(f"{id}.py"), 1, f"title of {id}", "", f"avoid {id}", known, ("program", "workaround"))


BAD, GOOD = {"inductor:cpu": "mismatch"}, {"inductor:cpu": "ok"}


def changes(matrix: Matrix, *records: Record, **how: str) -> dict[str, Change]:
    """Return what becomes of each record."""
    return {row.id: row.change for row in difference(A, B, records, matrix, **how)}


def test_measurements_say_what_changes() -> None:
    """All four of two states on two releases."""
    matrix = Matrix(
        measurements=(
            measurement("2.9.1+cpu", gh1=GOOD, gh2=BAD, gh3=BAD, gh4=GOOD),
            measurement("2.14.1+cu130", gh1=BAD, gh2=GOOD, gh3=BAD, gh4=GOOD),
        )
    )
    assert changes(matrix, *(issue(f"gh{n}") for n in range(1, 5))) == {
        "gh1": Change.APPEARS,
        "gh2": Change.DISAPPEARS,
        "gh3": Change.STAYS,
        "gh4": Change.CLEAR,
    }


def test_where_nothing_was_measured_the_record_speaks_and_is_named() -> None:
    """A measurement is stronger than the record."""
    record = issue("gh1", Affected(introduced="2.10", fixed="2.16"))
    (row,) = difference(A, B, [record], Matrix(measurements=(measurement("2.9.1", gh1=GOOD),)))
    assert (row.change, row.before.by, row.after.by) == (Change.APPEARS, "measured", "according to the record")
    (row,) = difference(A, B, [record], Matrix(measurements=(measurement("2.14.1", gh1=GOOD),)))
    assert (row.change, row.after.by) == (Change.CLEAR, "measured")


def test_what_nobody_knows_is_untested() -> None:
    """The neighbouring release's measurement says nothing, nor does a range with an open start."""
    matrix = Matrix(measurements=(measurement("2.9.0", gh1=BAD), measurement("2.14.0", gh1=BAD)))
    assert changes(matrix, issue("gh1"), issue("gh2", Affected(first_seen="2.13"))) == {
        "gh1": Change.UNTESTED,
        "gh2": Change.UNTESTED,
    }
    assert unmeasured(matrix, "2.9.1", "2.9.0") == ("torch 2.9.1: not measured",)


def test_conditions_that_cannot_be_told_leave_it_untested() -> None:
    """Which Triton an environment will have is not known here."""
    record = issue("gh1", Affected(introduced="2.10", where=("triton<3.4",)))
    assert changes(Matrix(), record) == {"gh1": Change.UNTESTED}


def test_device_and_target_limit_records_and_measurements() -> None:
    """A run on another device says nothing."""
    cuda = issue("gh1", devices=("cuda",))
    both = issue("gh2", devices=("cpu", "cuda"))
    there = {"inductor:cpu": "ok", "inductor:cuda-interpreted": "mismatch"}
    matrix = Matrix(
        measurements=(
            measurement(A, gh1={"inductor:cuda-interpreted": "ok"}, gh2=there),
            measurement(B, gh1={"inductor:cuda-interpreted": "mismatch"}, gh2=there),
        )
    )
    assert changes(matrix, cuda, both) == {"gh1": Change.APPEARS, "gh2": Change.STAYS}
    assert changes(matrix, cuda, both, device="cpu") == {"gh2": Change.CLEAR}
    assert changes(matrix, cuda, both, target="inductor:cuda-interpreted") == {
        "gh1": Change.APPEARS,
        "gh2": Change.STAYS,
    }
    assert changes(matrix, cuda, both, device="cuda") == {"gh1": Change.UNTESTED, "gh2": Change.UNTESTED}


def test_a_contract_whose_truth_changes_is_told() -> None:
    """Plain code does otherwise: no defect, and of interest."""
    known = Contract(statement="roll copies", truth=Truth.DOES_NOT_HOLD, since="2.10")
    record = Record("contract-x", Path("x.py"), 1, "t", "", "", known, ("program", "claim"))
    (row,) = difference(A, B, [record], Matrix())
    assert row.change is Change.CHANGES
    assert "holds on 2.9.1, does not hold on 2.14.1" in row.title
    measured = {"reference:cpu": "ok, does not hold", "inductor:cpu": "ok"}
    same = Matrix(measurements=(measurement(A, **{"contract-x": measured}), measurement(B, **{"contract-x": measured})))
    assert changes(same, record) == {"contract-x": Change.CLEAR}


@pytest.mark.parametrize(("before", "after"), [("2.9.1", "2.9.1+cpu"), ("two", "2.9.1")])
def test_releases_must_be_two(before: str, after: str) -> None:
    """Anything else is a usage error."""
    with pytest.raises(UsageError):
        difference(before, after, [], Matrix())


def finding(**fields: object) -> Finding:
    """Return a finding of the scan."""
    common: dict[str, object] = {"rule": "CF401", "file": "m.py", "line": 3, "column": 0, "text": "x", "message": ""}
    return Finding(**common | fields)  # type: ignore[arg-type]


RECORDS = (issue("gh1"), issue("gh2"), issue("gh3"), issue("gh198094"))
MATRIX = Matrix(
    measurements=(
        measurement(A, gh1=GOOD, gh2=BAD, gh3=BAD, gh198094=BAD),
        measurement(B, gh1=BAD, gh2=GOOD, gh3=BAD, gh198094=GOOD),
    )
)


def lines(monkeypatch: pytest.MonkeyPatch, folder: Path, *findings: Finding, source: str = "") -> tuple[Line, ...]:
    """Return the lines that the upgrade concerns, of these findings and of `source`."""
    (folder / "m.py").write_text(source, encoding="utf-8")
    report = ScanReport(findings=findings, files=1, broken=(), minimum=None, maximum=None)
    monkeypatch.setattr(of_lines, "scan", lambda *a, **k: report)
    rows = difference(A, B, RECORDS, MATRIX)
    found, files, broken = of_lines.lines([folder], rows, RECORDS, A, B)
    assert (files, broken) == (1, ())
    return found


def test_calls_of_what_is_bad_afterwards_are_concerned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In compiled code, with what to write instead; what is fixed concerns nobody."""
    call = {"kind": "call", "op": "roll", "inside": "yes"}
    found = lines(
        monkeypatch,
        tmp_path,
        finding(line=1, records=("gh1",), **call),
        finding(line=2, records=("gh2",), **call),
        finding(line=3, records=("gh3", "gh2"), **call),
        finding(line=4, records=("gh1",), **call | {"inside": "no"}),
    )
    assert [(f.line, f.verdict, f.records) for f in found] == [(1, "concerned", ("gh1",)), (3, "concerned", ("gh3",))]
    assert found[0].edit == 'with compilefix.workaround("gh1"): …'
    assert "appears" in found[0].message
    assert "stays" in found[1].message


@pytest.mark.parametrize(
    ("true_for", "verdict", "told"),
    [
        (((None, "2.10.0"),), "dead", "true on 2.9.1, false on 2.14.1"),
        ((("2.11.0", None),), "dead", "false on 2.9.1, true on 2.14.1"),
        ((("2.9.1", "2.9.2"), ("2.15.0", None)), "other branch", "true on 2.9.1, false on 2.14.1"),
        ((("2.10.0", "2.11.0"),), "dead", "always false"),
        ((("2.15.0", None),), None, ""),
        ((("2.6.0", None),), None, ""),
        (None, None, ""),
    ],
)
def test_gates_that_become_dead_or_decide_otherwise(
    true_for: object, verdict: str | None, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A gate that was dead before, or is as alive as before, is none of an upgrade's business."""
    found = lines(monkeypatch, tmp_path, finding(kind="gate", rule="CF100", true_for=true_for))
    assert [line.verdict for line in found] == ([verdict] if verdict else [])
    assert all(told in line.message for line in found)


def test_workarounds_and_drop_ins_that_become_dead_or_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the records of each say; one that stays as it was is not listed."""
    source = (
        "import compilefix\nfrom compilefix.ops import select_scatter\n"
        "compilefix.workaround('gh1')\ncompilefix.workaround('gh2')\ncompilefix.workaround('gh3')\n"
    )
    found = lines(monkeypatch, tmp_path, source=source)
    assert [(f.line, f.kind, f.verdict) for f in found] == [
        (3, "workaround", "needed"),
        (2, "op", "dead"),
        (4, "workaround", "dead"),
    ]
    assert "torch.select_scatter" in str(found[1].edit)


def test_a_link_to_what_is_gone_is_dead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only where all that it names is gone."""
    found = lines(
        monkeypatch,
        tmp_path,
        finding(kind="link", rule="CF301", line=1, records=("gh2",)),
        finding(kind="link", rule="CF300", line=2, records=("gh3",)),
    )
    assert [(f.line, f.verdict) for f in found] == [(1, "dead")]


def test_drop_ins_are_read_without_importing_them() -> None:
    """The same names and records as the ops themselves say."""
    from compilefix import ops

    assert of_lines.drop_ins() == {name: ops.spec(name).records for name in ops.names()}


def test_the_report_survives_json_and_its_exit_code_tells() -> None:
    """1 where something appears or a line is concerned; an untested line alone is none."""
    rows = difference(A, B, RECORDS, MATRIX)
    line = Line(file="m.py", line=1, kind="call", verdict="untested", text="x", message="y", records=("gh3",))
    report = UpgradeReport(before=A, after=B, rows=rows, lines=(line,), files=1, unmeasured=("torch x: not measured",))
    assert UpgradeReport.from_json(report.to_json()) == report
    assert report.exit_code() is Exit.FINDINGS
    calm = UpgradeReport(
        before=A, after=B, rows=tuple(r for r in rows if r.change is not Change.APPEARS), lines=(line,)
    )
    assert calm.exit_code() is Exit.EXPECTED
    with pytest.raises(UsageError):
        UpgradeReport.from_json({"schema": 0})
