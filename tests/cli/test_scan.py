"""``compilefix scan`` through the command line: formats, exit codes, settings, changes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compilefix.scan import RULES
from tests.conftest import Cli

SOURCE = """\
import torch

if torch.__version__ < "2.6":
    OLD = 1
NEW = str(torch.__version__) >= "2.10"
LIVE = torch.__version__ >= "2.12"


@torch.compile
def f(x, y):
    # https://github.com/pytorch/pytorch/issues/198094
    return torch.slice_scatter(x, y)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a project file and one source."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.6"]\n')
    (folder / "code.py").write_text(SOURCE)
    return folder


def test_findings_are_listed_with_place_rule_and_source(cli: Cli, project: Path) -> None:
    """The table names place, rule, source and reason; notes only on request; the minimum's origin is said."""
    done = cli("scan", str(project), "--max-torch", "2.14.1")
    assert done.returncode == 1
    assert f"{project}/code.py:3:4: CF102 always-false-gate" in done.stdout
    assert 'str(torch.__version__) >= "2.10"' in done.stdout
    assert "CF100" not in done.stdout
    assert "minimum torch 2.6" in done.stderr
    assert "pyproject.toml" in done.stderr
    shown = cli("scan", str(project), "--all").stdout
    assert "CF100 version-gate" in shown
    assert "CF300 issue-link" in shown


def test_exit_codes(cli: Cli, project: Path, tmp_path: Path) -> None:
    """0 where nothing is found, 1 findings, 2 usage, 3 where nothing could be read."""
    (tmp_path / "clean.py").write_text("import torch\n")
    (tmp_path / "broken.py").write_text("import torch\nprint 1\n")
    assert cli("scan", str(tmp_path / "clean.py")).returncode == 0
    assert cli("scan", str(project)).returncode == 1
    assert cli("scan", str(project), "--ignore", "CF").returncode == 0
    done = cli("scan", str(tmp_path / "broken.py"))
    assert (done.returncode, "not valid Python" in done.stderr) == (3, True)
    for wrong in (["absent"], [str(project), "--min-torch", "two"], [str(project), "--select", "XY1"],
                  [str(project), "--min-torch", "2.9", "--max-torch", "2.8"], [str(project), "--jobs", "0"],
                  [str(project), "--diff", "--fix"]):  # fmt: skip
        done = cli("scan", *wrong)
        assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr


def test_rules_are_selected_on_the_command_line_and_in_the_project(cli: Cli, project: Path) -> None:
    """Codes select by their beginning; the command line goes before pyproject.toml."""
    rules = [
        f["rule"]
        for f in json.loads(cli("scan", str(project), "--select", "CF2", "--format", "json").stdout)["findings"]
    ]
    assert rules == ["CF201"]
    settings = '\n[tool.compilefix]\nscan-ignore = ["CF2", "CF4"]\nmin-torch = "2.12"\n'
    (project / "pyproject.toml").write_text((project / "pyproject.toml").read_text() + settings)
    done = subprocess.run(
        [sys.executable, "-m", "compilefix", "scan", "--format", "json"],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["minimum"] == "2.12"
    assert {f["rule"] for f in report["findings"]} == {"CF101", "CF102", "CF300"}


def test_diff_changes_nothing_and_fix_does(cli: Cli, project: Path) -> None:
    """--diff shows what --fix then does; a second --fix finds nothing to do."""
    file = project / "code.py"
    shown = cli("scan", str(project), "--diff")
    assert file.read_text() == SOURCE
    assert shown.returncode == 1
    assert '-if torch.__version__ < "2.6":' in shown.stdout
    assert "+    return slice_scatter(x, y)" in shown.stdout
    assert cli("scan", str(project), "--fix").returncode == 1  # the string comparison is left
    text = file.read_text()
    assert "OLD" not in text
    assert "from compilefix.ops import slice_scatter" in text
    again = cli("scan", str(project), "--fix")
    assert "changed 0 places" in again.stderr
    assert file.read_text() == text


def test_json_is_whole(cli: Cli, project: Path) -> None:
    """JSON has every finding, notes too, with all fields."""
    report = json.loads(cli("scan", str(project), "--format", "json").stdout)
    assert report["schema"] == 1
    dead = next(f for f in report["findings"] if f["rule"] == "CF102")
    assert (dead["line"], dead["true_for"], dead["verdict"], dead["dead"]) == (
        3,
        [[None, "2.6.0"]],
        "dead-false",
        [4, 4],
    )
    call = next(f for f in report["findings"] if f["rule"] == "CF401")
    assert (call["op"], call["inside"]) == ("slice_scatter", "yes")
    assert "gh198094" in call["records"]
    assert "CF100" in {f["rule"] for f in report["findings"]}


def test_sarif_has_what_code_scanning_needs(cli: Cli, project: Path) -> None:
    """Rules, levels, places, fingerprints that survive a moved line; no unknown property at the top."""

    def scan() -> dict[str, Any]:
        return dict(json.loads(cli("scan", str(project), "--format", "sarif", "--all").stdout))

    log = scan()
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert all(re.fullmatch(r"CF\d{3}", r["id"]) and r["shortDescription"]["text"] for r in rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("note", "warning", "error")
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("/code.py")
        region = place["region"]
        assert region["startLine"] >= 1
        assert (region["endLine"], region["endColumn"]) > (region["startLine"], region["startColumn"])
    prints = [r["partialFingerprints"]["compilefix/v1"] for r in run["results"]]
    assert len(set(prints)) == len(prints)
    (project / "code.py").write_text("# one line more\n" + SOURCE)
    assert [r["partialFingerprints"]["compilefix/v1"] for r in scan()["runs"][0]["results"]] == prints


def test_markdown_lists_findings_in_a_table(cli: Cli, project: Path) -> None:
    """One row a finding, bars escaped."""
    text = cli("scan", str(project), "--format", "markdown").stdout
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == 3
    assert "CF102 always-false-gate" in rows[0]


def test_help_lists_every_rule(cli: Cli) -> None:
    """Codes and names stand in the help."""
    text = cli("scan", "--help").stdout
    assert all(f"{rule.code}  {rule.name}" in text for rule in RULES.values())
