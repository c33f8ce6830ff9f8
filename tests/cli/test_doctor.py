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
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CACHE

INDUCTOR = CACHE / "doctor"

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
def healthy() -> subprocess.CompletedProcess[str]:
    """Return what doctor says of this machine; the cache in which the one-liner is compiled is kept between runs."""
    INDUCTOR.mkdir(parents=True, exist_ok=True)
    return doctor(TORCHINDUCTOR_CACHE_DIR=str(INDUCTOR))


def test_a_machine_on_which_torch_compile_works(healthy: subprocess.CompletedProcess[str]) -> None:
    assert healthy.returncode == 0, healthy.stdout
    assert re.search(
        r"torch\.compile +ok +a one-liner took [\d.]+ s, and [\d.]+ s once more", " ".join(healthy.stdout.split())
    )
    assert "nothing in the way of torch.compile" in " ".join(healthy.stdout.split())
    assert any(INDUCTOR.glob("*/*.so"))


def test_each_thing_that_is_broken_has_its_own_command(tmp_path: Path) -> None:
    """Compiler, variables, three caches and a bisection at once: none hides another, and nothing is compiled."""
    bisect = tmp_path / "inductor" / "bisect"
    bisect.mkdir(parents=True)
    (bisect / "bisect_status.txt").write_text("backend=inductor\n")
    broken = {
        "CXX": "/no/such/g++",
        "TORCH_COMPILE_DISABLE": "1",
        "TORCHDYNAMO_SUPPRESS_ERRORS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(bisect.parent),
        "TRITON_CACHE_DIR": "/proc/none",
        "XDG_CACHE_HOME": "/proc/none",
    }
    found = [(f["subject"], f["mend"]) for f in findings("--no-compile", **broken)]
    assert found == [
        ("C++ compiler", "unset CXX"),
        ("Triton's cache", "export TRITON_CACHE_DIR=$(mktemp -d)"),
        ("compilefix's cache", "export XDG_CACHE_HOME=$(mktemp -d)"),
        ("bisector", f"rm -r {bisect}"),
        ("variables", "unset TORCHDYNAMO_SUPPRESS_ERRORS"),
        ("variables", "unset TORCH_COMPILE_DISABLE"),
    ]
    subprocess.run(shlex.split(dict(found)["bisector"]), check=True)
    assert not bisect.exists()


@pytest.mark.usefixtures("healthy")
def test_an_object_that_is_cut_off_breaks_compiling_until_the_command_mends_it(tmp_path: Path) -> None:
    """Torch loads what lies there; doctor names the file, tries empty caches, and says what helped."""
    broken = tmp_path / "broken"
    shutil.copytree(INDUCTOR, broken)
    for path in broken.glob("*/*.so"):
        path.write_bytes(path.read_bytes()[:100])
        os.utime(path, (time.time() - 120, time.time() - 120))
    found = {f["subject"]: f for f in findings(TORCHINDUCTOR_CACHE_DIR=str(broken))}
    assert set(found) == {"Inductor's cache", "torch.compile"}
    assert "works with empty caches" in found["torch.compile"]["says"]
    assert found["torch.compile"]["mend"] == f"rm -r {broken}"
    subprocess.run(shlex.split(found["torch.compile"]["mend"]), check=True)
    assert not broken.exists()


def test_a_compiler_that_is_turned_off_is_said_with_the_command_that_turns_it_on() -> None:
    """It is tried without the variable, so the command is one that was seen to help."""
    done = doctor(TORCH_COMPILE_DISABLE="1", TORCHINDUCTOR_CACHE_DIR=str(INDUCTOR))
    assert done.returncode == 1
    assert "compiles nothing" in done.stdout
    assert done.stdout.count("mend it: unset TORCH_COMPILE_DISABLE") == 2


def test_a_folder_that_is_not_there_is_a_usage_error() -> None:
    done = doctor("--no-compile", "-o", "/no/such/folder/report.txt")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
