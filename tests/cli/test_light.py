"""`list`, `explain`, `new` and the help: the verbs that need no torch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compilefix.issue import Contract
from compilefix.registry import discover, read
from tests.conftest import Cli


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
    done = cli("explain", "gh19828")
    assert done.returncode == 2
    assert "did you mean gh198280" in done.stderr


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


def test_a_contract_is_scaffolded(cli: Cli, tmp_path: Path) -> None:
    """`new contract` writes a file that is read as a contract with that statement."""
    done = cli("new", "contract", 'A "roll"  is \\ free.', "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    record = read(tmp_path / "contract_a_roll_is_free.py")
    assert (record.id, record.kind) == ("contract-a-roll-is-free", "contract")
    assert isinstance(record.known, Contract)
    assert record.known.statement == 'A "roll" is \\ free.'
    assert {"inputs", "program", "claim"} <= set(record.functions)


def test_list_matrix_shows_records_and_releases(cli: Cli) -> None:
    """Three signs, the counts add up, and JSON says why something was not measured."""
    ids = [record.id for record in discover().records]
    table = cli("list", "--matrix").stdout
    assert all(id in table for id in ids)
    assert "✘ measured, goes wrong, ✔ measured, does not, · not measured" in " ".join(table.split())
    raw = json.loads(cli("list", "--matrix", "--format", "json").stdout)
    assert [record["id"] for record in raw["records"]] == ids
    for record in raw["records"]:
        assert list(record["states"]) == raw["releases"]
        for seen in record["states"].values():
            assert seen["state"] in ("bad", "good", "not measured")
            assert bool(seen["symptoms"]) == (seen["state"] == "bad")
            assert bool(seen["reason"]) == (seen["state"] == "not measured")
    one = json.loads(cli("list", "gh198094", "--matrix", "--format", "json").stdout)
    assert [record["id"] for record in one["records"]] == ["gh198094"]
