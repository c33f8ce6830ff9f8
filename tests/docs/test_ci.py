"""The workflow on the page about CI, run step by step as a runner does: two shards, joined."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

from tests.conftest import environ

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
RECORDS = ("gh198094", "contract-scatter-casts-src")


def block(title: str) -> Any:
    """Return the parsed YAML block with that title."""
    found = re.search(rf'^```yaml title="{re.escape(title)}"\n(.*?)^```$', PAGE, re.M | re.S)
    assert found, title
    return yaml.safe_load(found[1])


def filled(text: str, context: dict[str, str]) -> str:
    """Put values in the place of ``${{ … }}``; an expression without a value is an error."""
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: context[found[1]], text)


@pytest.fixture
def around(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which ``compilefix`` is this checkout and two records are all there are."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "compilefix"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m compilefix "$@"\n')
    program.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return environ(tmp_path / "state", PATH=path, COMPILEFIX_SELECT=",".join(RECORDS))


def run(job: dict[str, Any], context: dict[str, str], folder: Path, store: Path, env: dict[str, str]) -> None:
    """Run the steps of one job; what is uploaded and downloaded goes through `store`."""
    folder.mkdir()
    for step in job["steps"]:
        if "run" in step and "pip install" in step["run"]:
            continue  # this torch and this checkout are installed
        if "run" in step:
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(step["run"], context)]
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        elif step["uses"].startswith("actions/upload-artifact@"):
            place = store / filled(step["with"]["name"], context)
            place.mkdir(parents=True)  # a name that is taken fails, as it does there
            shutil.copy(folder / step["with"]["path"], place)
        elif step["uses"].startswith("actions/download-artifact@"):
            for place in sorted(store.iterdir()):
                if fnmatch(place.name, filled(step["with"]["pattern"], context)):
                    shutil.copytree(place, folder / place.name)
        else:
            assert step["uses"].startswith("actions/setup-python@"), step


@pytest.mark.slow
def test_the_workflow_spreads_the_records_and_joins_them(tmp_path: Path, around: dict[str, str]) -> None:
    """Both parts together have every record once; the joined report is what a CI server reads."""
    jobs = block(".github/workflows/compilefix.yml")["jobs"]
    matrix = jobs["check"]["strategy"]["matrix"]
    assert matrix["shard"] == ["1/2", "2/2"]
    assert jobs["join"]["strategy"]["matrix"]["torch"] == matrix["torch"]
    assert jobs["join"]["needs"] == "check"
    torch = matrix["torch"][0]
    for index, shard in enumerate(matrix["shard"]):
        context = {"matrix.torch": torch, "matrix.shard": shard, "strategy.job-index": str(index)}
        run(jobs["check"], context, tmp_path / f"check-{index}", tmp_path / "store", around)
    parts = [json.loads(path.read_text())["results"] for path in sorted((tmp_path / "store").glob("*/report.json"))]
    assert [len(part) for part in parts] == [1, 1]
    assert {row["id"] for part in parts for row in part} == set(RECORDS)
    run(jobs["join"], {"matrix.torch": torch}, tmp_path / "join", tmp_path / "store", around)
    joined = etree.parse(tmp_path / "join" / "report.xml")
    etree.XMLSchema(etree.parse(ROOT / "tests" / "report" / "junit.xsd")).assertValid(joined)
    assert {case.get("name") for case in joined.iter("testcase")} == set(RECORDS)
    page = (tmp_path / "join" / "report.html").read_text(encoding="utf-8")
    assert all(id in page for id in RECORDS)


def test_the_other_snippets_name_what_there_is() -> None:
    """Inputs and outputs of the action, the id and the arguments of the hook."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = block("steps of a job")
    scan = next(step for step in steps if step.get("id") == "scan")
    assert set(scan["with"]) <= set(action["inputs"])
    assert any(
        name in filled(json.dumps(steps), {f"steps.scan.outputs.{n}": n for n in action["outputs"]})
        for name in action["outputs"]
    )
    (hook,) = block(".pre-commit-config.yaml")["repos"][0]["hooks"]
    (shipped,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == shipped["id"]
    from compilefix import cli

    cli.parse([*shipped["entry"].split()[1:], *hook["args"], "code.py"])
