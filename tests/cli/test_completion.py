"""``compilefix completion``, and what a shell gets that asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_code(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "compilefix", "completion", shell], capture_output=True, text=True, check=True
    )
    assert "compilefix" in done.stdout
    assert "_ARGCOMPLETE" in done.stdout


def test_an_unknown_shell_is_a_usage_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "compilefix", "completion", "cmd"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("compilefix exp", {"explain"}),
        ("compilefix explain gh19809", {"gh198094", "gh198095"}),
        ("compilefix check --work", {"--workarounds"}),
        ("compilefix check --format m", {"markdown"}),
    ],
)
def test_verbs_ids_options_and_choices_are_completed(line: str, expected: set[str], tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    code = "import sys; from compilefix.cli import main; main([]); sys.exit(99)"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **asked}, check=True)
    assert {word.strip() for word in answer.read_text().split("\n")} == expected
