"""The wheel carries the repros, and works from another folder and in the test suite of a project that is not ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import environ

ROOT = Path(__file__).parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

PROJECT = {
    "pyproject.toml": """
[project]
name = "shop"
version = "1"

[tool.pytest.ini_options]
addopts = "--strict-markers --strict-config -ra"
filterwarnings = ["error"]
pythonpath = ["src"]
testpaths = ["tests"]
xfail_strict = true
markers = ["gpu: needs one"]
""",
    "src/shop/__init__.py": "",
    "src/shop/model.py": """
import torch


def price(x):
    return x.cos().sum(-1) * 2.0


def update(cache, x):
    result = torch.select_scatter(cache, x, dim=0, index=1)
    cache.zero_()
    return result
""",
    "tests/conftest.py": """
import pytest


def pytest_addoption(parser):
    parser.addoption("--shop", action="store_true")


@pytest.fixture
def tensor():
    import torch

    return torch.linspace(-1.0, 1.0, 12).reshape(3, 4)
""",
    "tests/unit/test_model.py": """
import pytest


def test_price(compile_check, tensor):
    from shop.model import price

    compile_check(price, tensor)


@pytest.mark.compile_issue("gh198094")
def test_update(compile_check, tensor):
    from shop.model import update

    compile_check(update, tensor, tensor[0] + 5.0, targets=["inductor"])


@pytest.mark.compile_issue("gh145189", stale=False)
@pytest.mark.parametrize("number", range(3))
def test_numbers(number):
    assert number < 3


@pytest.mark.compile_issue("gh145189")
def test_nobody_needs_it():
    pass
""",
    "tests/unit/test_plain.py": "def test_plain():\n    pass\n",
}
"""A project of somebody else: src layout, a conftest of its own, strict markers, every warning an error."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build the wheel and install it in a fresh environment that borrows only the dependencies of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    clean = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"}  # else pip may find it "already satisfied"
    install = [python, "-m", "pip", "install", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, env=clean)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # a path line makes torch and rich importable, but runs no .pth of that folder: this checkout stays out of reach
    (Path(site) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()

    def run(*arguments: str, cwd: Path = elsewhere, **changes: str) -> subprocess.CompletedProcess[str]:
        command = [str(python), *(arguments if arguments[0] == "-c" else ("-m", *arguments))]
        env = environ(folder / "state", **changes)
        env = {n: v for n, v in env.items() if n != "PYTHONPATH" and not n.startswith(("PYTEST_", "COV_"))}
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)

    return run


@pytest.mark.slow
def test_the_installed_wheel_lists_its_own_records(installed: Run) -> None:
    """`list` finds the records inside the wheel, all of them."""
    done = installed("compilefix", "list", "--format", "json")
    assert done.returncode == 0, done.stderr
    shipped = {p.name.split("_")[0] for p in (ROOT / "repros").glob("gh*.py")}
    assert shipped <= {r["id"] for r in json.loads(done.stdout)["records"]}


@pytest.mark.slow
def test_the_installed_wheel_checks_a_record(installed: Run) -> None:
    """`check` runs a record of the wheel from a folder that has nothing to do with the checkout."""
    done = installed("compilefix", "check", "gh198094", "--format", "json", "--timeout", "240")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["results"]
    outcome = row["outcomes"]["inductor:cpu"]
    assert outcome["outcome"] in ("mismatch", "ok"), outcome
    assert row["outcomes"]["aot_eager:cpu"]["outcome"] == "ok"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write the foreign project."""
    for name, text in PROJECT.items():
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "shop"


def rows(report: Path) -> list[dict[str, Any]]:
    return list(json.loads(report.read_text(encoding="utf-8"))["rows"])


@pytest.mark.slow
def test_the_plugin_works_in_a_project_of_somebody_else(installed: Run, project: Path) -> None:
    """Marks decide by record and measurement of this very torch, the fixture compares, the report has every row."""
    done = installed("pytest", "--compilefix-report=report.json", cwd=project)
    assert "1 failed, 5 passed, 1 xfailed" in done.stdout, done.stdout + done.stderr
    assert "XFAIL tests/unit/test_model.py::test_update" in done.stdout
    assert "stale: torch does not have gh145189 here" in done.stdout
    found = rows(project / "report.json")
    assert [(r["target"], bool(r["differences"])) for r in found if "target" in r] == [
        ("inductor", False),
        ("inductor", True),
    ]
    assert {r["issue"]: r["bad"] for r in found if "issue" in r} == {"gh198094": True, "gh145189": False}


@pytest.mark.slow
def test_with_xdist_the_report_is_the_same(installed: Run, project: Path) -> None:
    """Two workers hand in what one process finds."""
    alone = installed("pytest", "--compilefix-report=alone.json", "-k", "numbers or needs or plain", cwd=project)
    spread = installed(
        "pytest", "-n2", "--compilefix-report=spread.json", "-k", "numbers or needs or plain", cwd=project
    )
    assert (alone.returncode, spread.returncode) == (1, 1), spread.stdout + spread.stderr
    one, two = (sorted(rows(project / f"{name}.json"), key=lambda r: r["test"]) for name in ("alone", "spread"))
    assert one == two
    assert len(one) == 4


@pytest.mark.slow
def test_turned_off_it_is_not_there(installed: Run, project: Path) -> None:
    """Nothing of it is left: no option, and strict markers know no mark."""
    done = installed("pytest", "-p", "no:compilefix", "tests/unit/test_plain.py", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compilefix" not in done.stdout
    done = installed("pytest", "-p", "no:compilefix", "--compilefix-report=x.json", cwd=project)
    assert done.returncode == 4
    done = installed("pytest", "-p", "no:compilefix", "tests/unit/test_model.py", cwd=project)
    assert "'compile_issue' not found in `markers`" in done.stdout


@pytest.mark.slow
def test_where_torch_is_absent_it_collects_and_says_so(installed: Run, project: Path) -> None:
    """Collecting and plain tests need no torch; a mark without it is one error, in words."""
    call = "import sys; sys.modules['torch'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    done = installed("-c", call, "--collect-only", "-q", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 tests collected" in done.stdout
    done = installed("-c", call, "tests/unit/test_plain.py", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    done = installed("-c", call, "tests/unit/test_model.py", "-k", "nobody", cwd=project)
    assert done.returncode == 1
    assert 'compile_issue("gh145189") cannot be decided: torch does not import' in done.stdout
    assert "Traceback" not in done.stdout
