"""``compilefix doctor`` from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def doctor(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compilefix", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environ})


def test_a_machine_on_which_torch_compile_works() -> None:
    done = doctor("--format", "json")
    found = {f["subject"]: f for f in json.loads(done.stdout)["findings"]}
    assert found["torch.compile"]["state"] == "ok", done.stdout
    assert done.returncode == (1 if json.loads(done.stdout)["problems"] else 0)


def test_a_compiler_that_is_turned_off_is_said_with_the_command_that_turns_it_on() -> None:
    done = doctor(TORCH_COMPILE_DISABLE="1")
    assert done.returncode == 1
    assert "compiles nothing" in done.stdout
    assert "mend it: unset TORCH_COMPILE_DISABLE" in done.stdout


def test_a_folder_that_is_not_there_is_a_usage_error() -> None:
    done = doctor("--no-compile", "-o", "/no/such/folder/report.txt")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
