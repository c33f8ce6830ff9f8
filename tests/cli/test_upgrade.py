"""`upgrade`, end to end: from shipped measurements, and with a command of the user's on two releases."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from compilefix.report import comparison
from compilefix.upgrade import matrix
from compilefix.upgrade.comparison import Comparison
from compilefix.upgrade.difference import UpgradeReport
from tests.conftest import Cli
from tests.upgrade.shims import setting

PAIR = ("--from", "2.13.0", "--to", "2.14.1")


def test_it_answers_from_the_shipped_measurements(cli: Cli) -> None:
    """Every record is in one of the parts, and what was measured says what the files say."""
    done = cli("upgrade", *PAIR, "--format", "json")
    report = UpgradeReport.from_json(json.loads(done.stdout))
    assert done.returncode == report.exit_code()
    assert report.summary["disappears"] > 0
    assert report.summary["stays"] > 0
    known = matrix.read()
    for row in report.rows:
        for side, release in ((row.before, report.before), (row.after, report.after)):
            state = known.state(row.id, release).value
            assert (side.by == "measured") == (state != "not measured"), row.id
            assert side.by != "measured" or side.state == state, row.id
    table = cli("upgrade", *PAIR).stdout
    markdown = cli("upgrade", *PAIR, "--format", "markdown").stdout
    gone = [row.id for row in report.rows if row.change.value == "disappears"]
    assert all(id in table and f"**{id}**" in markdown for id in gone)


def test_the_page_names_what_the_table_names(cli: Cli, tmp_path: Path) -> None:
    """One file, with the user's lines."""
    source, page = tmp_path / "model.py", tmp_path / "page.html"
    source.write_text(SOURCE, encoding="utf-8")
    done = cli("upgrade", *PAIR, str(source), "--format", "html", "-o", str(page))
    report = UpgradeReport.from_json(json.loads(cli("upgrade", *PAIR, str(source), "--format", "json").stdout))
    assert done.returncode == report.exit_code()
    text = page.read_text(encoding="utf-8")
    told = [row.id for row in report.rows if row.change.value != "clear"]
    assert all(f'id="{id}"' in text for id in told)
    assert report.lines
    assert all(f'id="{source}:{line.line}"' in text for line in report.lines)


def test_it_answers_within_two_seconds(cli: Cli) -> None:
    """Of the processor's time, which other tests beside it do not change."""
    before = os.times()
    cli("upgrade", *PAIR)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert 0 < spent < 2.0


SOURCE = """
import torch
import compilefix
from packaging.version import Version

if Version(torch.__version__) < Version("2.14"):
    FLAG = True

# see https://github.com/pytorch/pytorch/issues/188213


@torch.compile
def step(x, row):
    y = torch.select_scatter(x, row, 0, 1)
    x.zero_()
    return y


with compilefix.workaround("gh183763"):
    pass
"""


def test_it_tells_which_lines_are_concerned(cli: Cli, tmp_path: Path) -> None:
    """A call of what stays bad, a gate, a link and a workaround that become dead; each with its line and edit."""
    path = tmp_path / "elsewhere" / "net.py"
    path.write_text(SOURCE, encoding="utf-8")
    done = cli("upgrade", *PAIR, "--format", "json", "net.py")
    assert done.returncode == 1, done.stderr
    report = UpgradeReport.from_json(json.loads(done.stdout))
    assert report.files == 1
    found = {(line.line, line.kind, line.verdict) for line in report.lines}
    assert found == {(14, "call", "concerned"), (6, "gate", "dead"), (9, "link", "dead"), (19, "workaround", "dead")}
    assert all(line.edit and line.file.endswith("net.py") for line in report.lines)
    call = next(line for line in report.lines if line.kind == "call")
    assert (call.op, "gh198094" in call.records) == ("select_scatter", True)
    shown = cli("upgrade", *PAIR, "net.py").stdout
    assert all(f"net.py:{line}" in shown for line, _, _ in found)


def test_a_release_that_was_not_measured_is_said_to_be(cli: Cli) -> None:
    """And nothing of its neighbours is taken for it."""
    done = cli("upgrade", "--from", "2.13.0", "--to", "2.98.0", "--format", "json")
    report = UpgradeReport.from_json(json.loads(done.stdout))
    assert report.unmeasured == ("torch 2.98.0: not measured",)
    assert {row.after.by for row in report.rows} <= {"", "according to the record"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--from", "2.13.0", "--to", "2.13.0+cpu"), "same release"),
        (("--from", "now", "--to", "2.14.1"), "no torch release"),
        ((*PAIR, "--target", "nonsense"), "unknown target"),
        ((*PAIR, "no/such/path.py"), "no such file"),
        ((*PAIR, "--with", "x"), "behind --"),
        ((*PAIR, "--index-url", "x"), "behind --"),
        ((*PAIR, "src", "--", "pytest"), "neither PATH"),
        ((*PAIR, "--requirements", "no.txt", "--", "pytest"), "no such file"),
        ((*PAIR, "--timeout", "0", "--", "pytest"), "more than 0"),
        ((*PAIR, "--"), "no command"),
    ],
)
def test_mistakes_are_one_line(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    """With the usage code."""
    done = cli("upgrade", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


TESTS = """
import torch
NEW = torch.__version__ >= "2.98"
def test_always(): pass
def test_old(): assert not NEW, f"broken at {id(object()):#x}"
def test_new(): assert NEW
def test_never(): raise ValueError(f"{id(object())}")
"""


def test_a_command_is_run_on_both_releases(cli: Cli, tmp_path: Path) -> None:
    """Regressed, fixed and failing on both, by signature; a finding."""
    (tmp_path / "elsewhere" / "test_it.py").write_text(TESTS, encoding="utf-8")
    there = setting(tmp_path, "2.97.0", "2.98.0")
    pair = ("--from", "2.97.0", "--to", "2.98.0")
    done = cli("upgrade", *pair, "--format", "json", "--", "pytest", "-q", **there)
    report = Comparison.from_json(json.loads(done.stdout))
    assert done.returncode == 1, done.stderr
    told = {(g.status.value, *(t.partition("::")[2] for t in g.tests)) for g in report.groups}
    assert told == {("regressed", "test_old"), ("fixed", "test_new"), ("failing on both", "test_never")}
    assert report.before.torch == "2.97.0+stub"
    for format in ("table", "markdown", "html"):
        shown = comparison.render(report, format)
        assert "Regressed" in shown
        assert "broken at" in shown


def test_without_a_baseline_nothing_regressed(cli: Cli, tmp_path: Path) -> None:
    """The old release dies of an import: inconclusive."""
    text = "import torch\nif torch.__version__ < '2.98': import nonsense\ndef test_a(): assert False\n"
    (tmp_path / "elsewhere" / "test_it.py").write_text(text, encoding="utf-8")
    there = setting(tmp_path, "2.97.0", "2.98.0")
    done = cli("upgrade", "--from", "2.97.0", "--to", "2.98.0", "--", "pytest", "-q", **there)
    assert done.returncode == 4
    assert "no baseline" in done.stdout
    assert "Regressed" not in done.stdout
