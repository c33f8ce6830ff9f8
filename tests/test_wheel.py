"""The wheel carries the repros and works from another folder."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import environ

ROOT = Path(__file__).parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build the wheel and install it in a fresh environment that borrows only the dependencies of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--no-deps", str(wheel)], check=True, capture_output=True)
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

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(python), "-m", *arguments]
        env = environ(folder / "state")
        env.pop("PYTHONPATH", None)
        return subprocess.run(command, cwd=elsewhere, env=env, capture_output=True, text=True, check=False)

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
    assert row["outcomes"]["inductor:cpu"]["outcome"] in ("mismatch", "ok")
    assert row["outcomes"]["aot_eager:cpu"]["outcome"] == "ok"
