"""`list`, `explain`, `new` and the help: the verbs that need no torch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compilefix import measured
from compilefix.check import CheckReport
from compilefix.issue import Contract, Truth
from compilefix.outcome import Did, Outcome, Target
from compilefix.registry import discover, read
from tests.conftest import Cli
from tests.runner.test_journal import result
from tests.runner.test_schedule import environment


def test_list_shows_every_record_and_obeys_the_selection(cli: Cli) -> None:
    """All ids are there, and a selection leaves only what matches."""
    ids = [r.id for r in discover().records]
    assert [r["id"] for r in json.loads(cli("list", "--format", "json").stdout)["records"]] == ids
    table = cli("list").stdout
    assert all(id in table for id in ids)
    chosen = json.loads(cli("list", "--select", "symptom:wrong-alias", "--format", "json").stdout)["records"]
    assert {r["symptom"] for r in chosen} == {"wrong-alias"}


@pytest.mark.parametrize("record", discover().records, ids=lambda r: r.id)
def test_explain_tells_cause_program_and_what_to_do(record: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Every record explains itself, in text and in Markdown, with all that its file says."""
    from compilefix.cli import main
    from compilefix.registry import Record

    assert isinstance(record, Record)
    for format in ("text", "markdown"):
        assert main(["explain", record.id, "--format", format]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert record.id in shown
        assert all(link in shown for link in record.known.references)
        assert f"compilefix check {record.id}" in shown
        if "def program" in record.source:
            assert "def program" in shown
    assert record.why
    assert record.what_to_do


def test_explain_of_an_unknown_id_is_a_usage_error(cli: Cli) -> None:
    """One line that suggests what may be meant."""
    done = cli("explain", "gh19809")
    assert done.returncode == 2
    assert "did you mean gh198094" in done.stderr


def test_new_writes_one_readable_file_and_never_overwrites(cli: Cli, tmp_path: Path) -> None:
    """The scaffold is a valid record; its number cannot be taken twice."""
    done = cli("new", "999999", 'Rolling "back" is wrong', "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    path = tmp_path / "gh999999_rolling_back_is_wrong.py"
    assert read(path).title == 'Rolling "back" is wrong'
    again = cli("new", "gh999999", "Another title", "--into", str(tmp_path), "--repros", str(tmp_path))
    assert again.returncode == 2
    assert "ids are never reused" in again.stderr
    assert cli("new", "ninety", "A title", "--into", str(tmp_path)).returncode == 2
    assert cli("new", "198094", "A title", "--into", str(tmp_path)).returncode == 2


def test_a_measured_file_is_written_whole_and_read_back(tmp_path: Path) -> None:
    """What was measured comes back by record; the file holds no times."""
    report = CheckReport(environment=environment(), results=(result("gh1"), result("gh2")))
    path = measured.write(report, tmp_path)
    assert path.name == "torch-2.13.0+cpu-py311-linux-x86_64.json"
    assert measured.cells("gh1", tmp_path) == {path.stem: {"eager:cpu": "ok"}}
    assert measured.cells("gh3", tmp_path) == {}
    assert "seconds" not in path.read_text()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_contract_is_scaffolded(cli: Cli, tmp_path: Path) -> None:
    """`new contract` writes a file that is read as a contract with that statement."""
    done = cli("new", "contract", 'A "roll"  is \\ free.', "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    record = read(tmp_path / "contract_a_roll_is_free.py")
    assert (record.id, record.kind) == ("contract-a-roll-is-free", "contract")
    assert isinstance(record.known, Contract)
    assert record.known.statement == 'A "roll" is \\ free.'
    assert {"inputs", "program", "claim"} <= set(record.functions)


def test_what_a_claim_came_to_is_measured(tmp_path: Path) -> None:
    """The reference's cell of a contract says whether the statement holds; those of issues do not."""
    outcomes = {
        Target("reference"): Outcome(did=Did.OK, facts={"claim": False}),
        Target("eager"): Outcome(did=Did.OK),
    }
    told = replace(result("contract-a"), record="contract", outcomes=outcomes)
    path = measured.write(CheckReport(environment=environment(), results=(told, result("gh1"))), tmp_path)
    cells = measured.read(path)["outcomes"]
    assert cells["contract-a"]["reference:cpu"] == {"program": "ok", "claim": "does not hold"}
    assert cells["gh1"] == {"eager:cpu": {"program": "ok"}}
    assert measured.cells("contract-a", tmp_path) == {
        path.stem: {"reference:cpu": "ok, does not hold", "eager:cpu": "ok"}
    }


def test_shipped_measurements_agree_with_the_records() -> None:
    """No measured cell contradicts its record, and every measured id exists."""
    from packaging.version import Version

    registry = discover()
    files = sorted(measured.folder().glob("*.json"))
    assert files
    for path in files:
        raw = measured.read(path)
        version = Version(raw["environment"]["torch"])
        for id, row in raw["outcomes"].items():
            known = registry.get(id).known
            bad = [t for t, cell in row.items() if Outcome(did=Did(cell["program"])).did.bad and Target.parse(t).rank]
            expected = known.expectation(version).value
            assert not (expected == "affected" and not bad), f"{path.name}: {id} is clear, the record says affected"
            assert not (expected == "unaffected" and bad), f"{path.name}: {id} is bad, the record says unaffected"
            if isinstance(known, Contract):
                claims = {Truth(cell["claim"]) for cell in row.values() if "claim" in cell}
                ran = row["reference:cpu"]["program"] == "ok"
                assert bool(claims) == ran, f"{path.name}: {id} has no claim"
                truth = known.expected(version)
                same = truth in (None, Truth.DIFFER) or claims <= {truth}
                assert same, f"{path.name}: {id} is {claims}, the record says {truth}"
