"""End to end: what needs a workaround, whether it works, and whether somebody still asks for one in vain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A user's source that asks for two workarounds, one of which no release from 2.13 on needs, and for an op."""
    path = tmp_path / "model.py"
    path.write_text(
        "import compilefix\n"
        "from compilefix.ops import slice_scatter\n"
        "fix = compilefix.workaround('gh198094')\n"
        "old = compilefix.workaround('gh152262')\n"
    )
    return path


def test_status_names_every_op_and_workaround_and_who_said_so(cli: Cli, tmp_path: Path) -> None:
    done = cli("status", "--format", "json", XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    rows = {row["subject"]: row for row in report["rows"]}
    assert report["measured"] is None
    assert rows["gh198094"]["on"] is True
    assert rows["gh198094"]["by"] == "record"
    assert rows["gh198094"]["does"].startswith("rewrite: drop-in")
    assert rows["gh152262"]["on"] is False
    assert rows["slice_scatter"]["kind"] == "op"
    assert rows["slice_scatter"]["does"] != "plain"
    assert not any(row["stale"] for row in rows.values())


def test_status_as_a_table_tells_the_switch(cli: Cli, tmp_path: Path) -> None:
    done = cli("status", XDG_CACHE_HOME=str(tmp_path), COMPILEFIX_FORCE="gh198094=off,slice_scatter=cat", COLUMNS="120")
    assert done.returncode == 0, done.stderr
    assert "gh198094=off" in done.stdout
    assert "slice_scatter=cat" in done.stdout
    assert "not measured here" in done.stdout


def test_a_stale_workaround_exits_with_1_and_names_release_and_place(cli: Cli, source: Path, tmp_path: Path) -> None:
    done = cli("status", "--stale", str(source), XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert "fixed in 2.13.0" in done.stdout
    assert "model.py:4" in "".join(done.stdout.split())
    assert "gh198094 " not in done.stdout
    forced = cli("status", "--stale", XDG_CACHE_HOME=str(tmp_path), COMPILEFIX_FORCE="gh152262=on")
    assert forced.returncode == 1
    assert "gh152262" in forced.stdout
    fine = cli("status", "--stale", XDG_CACHE_HOME=str(tmp_path), COMPILEFIX_FORCE="gh198094=on")
    assert fine.returncode == 0, fine.stdout


@pytest.mark.parametrize(
    ("arguments", "force", "message"),
    [
        (["status"], "gh198094", "must be subject=value"),
        (["status"], "gh7=on", "neither a record nor a drop-in op"),
        (["status"], "slice_scatter=magic", "is none of on, off, plain"),
        (["status", "no/such/path"], "", "no such file or folder"),
        (["probe", "no_such_op"], "", "no drop-in op 'no_such_op'"),
        (["check", "gh198094", "--workarounds", "--resume"], "", "--workarounds does not go with"),
    ],
)
def test_a_mistake_is_one_line_and_exits_with_2(cli: Cli, arguments: list[str], force: str, message: str) -> None:
    done = cli(*arguments, COMPILEFIX_FORCE=force)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.slow
def test_check_puts_every_kind_to_the_proof_with_its_price(cli: Cli, tmp_path: Path) -> None:
    """Kinds and prices are in the JSON report, and in the table and the Markdown that are made of it."""
    kept = tmp_path / "report.json"
    done = cli(
        *("check", "gh198094", "gh183763", "--workarounds", "--target", "inductor:cpu"),
        *("--format", "json", "-o", str(kept)),
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(kept.read_text())
    cures = {(c["id"], c["kind"]): c for c in report["cures"]}
    assert {kind for id, kind in cures if id == "gh198094"} == {"own", "rewrite", "backend", "island"}
    for cure in cures.values():
        assert cure["effect"] == "cures", cure
        assert cure["price"]["time_ratio"] > 0
        assert cure["price"]["graph_breaks"] == 0
    assert cures["gh198094", "rewrite"]["what"].startswith("drop-in")
    for style in ("table", "markdown"):
        done = cli("merge", str(kept), "--format", style)
        assert done.returncode == 0, done.stderr
        assert "put to the proof" in done.stdout
        assert "cures" in done.stdout


@pytest.mark.slow
def test_a_workaround_that_makes_it_worse_is_said_to(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "local_worse.py").write_text(
        '"""A healthy program with a workaround that is wrong."""\n'
        "import torch\n"
        "from compilefix.issue import Issue, Symptom\n"
        'ISSUE = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor")\n'
        "def inputs(device):\n    return (torch.ones(3),)\n"
        "def program(x):\n    return x + 1\n"
        "def workaround(x):\n    return x + 2\n"
    )
    done = cli(
        *("check", "local-worse", "--repros", str(tmp_path), "--workarounds", "--target", "inductor:cpu"),
        *("--format", "json"),
    )
    cures = {c["kind"]: c["effect"] for c in json.loads(done.stdout)["cures"]}
    assert cures["own"] == "makes it worse"
    assert cures["island"] == "not needed"


@pytest.mark.slow
def test_probe_measures_this_build_and_the_ops_take_its_word(cli: Cli, tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = cli("probe", "sinh", "--record", str(tmp_path / "tables"), **cache)
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "tables").glob("torch-*.json")
    table = json.loads(file.read_text())["ops"]["sinh"]
    assert table["plain"]["inductor:cpu"] == ["result"]
    chosen = next(name for name, wrong in table.items() if not any(wrong.values()))
    assert done.stdout.strip() == f"sinh: {chosen}"
    rows = json.loads(cli("status", "--format", "json", **cache).stdout)["rows"]
    (row,) = (row for row in rows if row["subject"] == "sinh")
    assert (row["on"], row["by"], row["does"]) == (True, "measured here", chosen)
