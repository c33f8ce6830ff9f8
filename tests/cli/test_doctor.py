"""``compilefix doctor`` from outside: a machine that works, and the same one broken in each way, then mended."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


def doctor(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compilefix", "doctor", *arguments]
    around = {n: v for n, v in os.environ.items() if not n.startswith(("TORCH", "TRITON")) and n != "CXX"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=around | environ)


def findings(*arguments: str, **environ: str) -> list[dict[str, Any]]:
    """Return the problems that doctor finds; each has its one command."""
    done = doctor("--format", "json", *arguments, **environ)
    report = json.loads(done.stdout)
    problems = [f for f in report["findings"] if f["state"] == "problem"]
    assert done.returncode == bool(problems) == bool(report["problems"])
    assert all(f["mend"] and "\n" not in f["mend"] for f in problems), problems
    return problems


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return an Inductor cache in which the one-liner is compiled already, by a doctor that finds nothing."""
    folder = tmp_path_factory.mktemp("doctor") / "inductor"
    assert findings(TORCHINDUCTOR_CACHE_DIR=str(folder)) == []
    assert any(folder.glob("*/*.so"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_machine_on_which_torch_compile_works(cache: Path) -> None:
    done = doctor(TORCHINDUCTOR_CACHE_DIR=str(cache))
    assert done.returncode == 0, done.stdout
    assert re.search(
        r"torch\.compile +ok +a one-liner took [\d.]+ s, and [\d.]+ s once more", " ".join(done.stdout.split())
    )
    assert "nothing in the way of torch.compile" in done.stdout


@pytest.mark.parametrize(
    ("broken", "subject", "mend"),
    [
        ({"CXX": "/no/such/g++"}, "C++ compiler", "unset CXX"),
        ({"TORCH_COMPILE_DISABLE": "1"}, "variables", "unset TORCH_COMPILE_DISABLE"),
        ({"TORCHDYNAMO_SUPPRESS_ERRORS": "1"}, "variables", "unset TORCHDYNAMO_SUPPRESS_ERRORS"),
        ({"TORCHINDUCTOR_CACHE_DIR": "/proc/none"}, "Inductor's cache", "export TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)"),
        ({"TRITON_CACHE_DIR": "/proc/none"}, "Triton's cache", "export TRITON_CACHE_DIR=$(mktemp -d)"),
        ({"XDG_CACHE_HOME": "/proc/none"}, "compilefix's cache", "export XDG_CACHE_HOME=$(mktemp -d)"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_a_variable_breaks_is_named_with_the_command(
    broken: dict[str, str], subject: str, mend: str, cache: Path
) -> None:
    """Without compiling: what is set is seen, each with its own command."""
    found = {
        f["subject"]: f["mend"] for f in findings("--no-compile", **{"TORCHINDUCTOR_CACHE_DIR": str(cache)} | broken)
    }
    assert found == {subject: mend}


def test_a_bisection_left_behind_is_mended_by_its_command(cache: Path) -> None:
    """The state is found in the folder that torch would read, and the command removes it."""
    (cache / "bisect").mkdir()
    (cache / "bisect" / "bisect_status.txt").write_text("backend=inductor\n")
    (problem,) = findings("--no-compile", TORCHINDUCTOR_CACHE_DIR=str(cache))
    assert problem["subject"] == "bisector"
    subprocess.run(shlex.split(problem["mend"]), check=True)
    assert findings("--no-compile", TORCHINDUCTOR_CACHE_DIR=str(cache)) == []


def test_an_object_that_is_cut_off_breaks_compiling_until_the_command_mends_it(cache: Path) -> None:
    """Torch loads what lies there; doctor names the file, tries empty caches, and both commands help."""
    broken = cache.with_name("broken")
    shutil.copytree(cache, broken)
    for path in broken.glob("*/*.so"):
        path.write_bytes(path.read_bytes()[:100])
        os.utime(path, (time.time() - 120, time.time() - 120))
    found = {f["subject"]: f for f in findings(TORCHINDUCTOR_CACHE_DIR=str(broken))}
    assert set(found) == {"Inductor's cache", "torch.compile"}
    assert "works with empty caches" in found["torch.compile"]["says"]
    assert found["torch.compile"]["mend"] == f"rm -r {broken}"
    subprocess.run(shlex.split(found["torch.compile"]["mend"]), check=True)
    assert not broken.exists()


def test_a_compiler_that_is_turned_off_is_said_with_the_command_that_turns_it_on(cache: Path) -> None:
    """It is tried without the variable, so the command is one that was seen to help."""
    done = doctor(TORCH_COMPILE_DISABLE="1", TORCHINDUCTOR_CACHE_DIR=str(cache))
    assert done.returncode == 1
    assert "compiles nothing" in done.stdout
    assert done.stdout.count("mend it: unset TORCH_COMPILE_DISABLE") == 2


def test_a_folder_that_is_not_there_is_a_usage_error() -> None:
    done = doctor("--no-compile", "-o", "/no/such/folder/report.txt")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
