"""``compilefix completion``, and what a shell gets that asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import compilefix


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


ASKED = [
    ("exp", {"explain"}),
    ("explain gh19809", {"gh198094", "gh198095"}),
    ("check --work", {"--workarounds"}),
    ("check --format m", {"markdown"}),
    ("check --select symptom:wrong-g", {"symptom:wrong-gradient"}),
    ("check --target inductor:cuda-", {"inductor:cuda-interpreted", "inductor:cuda-interpreted:dynamic"}),
    ("check --gpu h1", {"h100"}),
    ("check --grid re", {"reverse"}),
    ("scan --select CF10", {"CF100", "CF101", "CF102", "CF103", "CF104"}),
    ("probe slice_sc", {"slice_scatter"}),
    ("bisect gh19809", {"gh198094", "gh198095"}),
    ("diagnose mod", {"model.py"}),
    ("diagnose gh19809", {"gh198094", "gh198095"}),
    ("upgrade --from 2.9", {"2.9.1"}),
    ("new contr", {"contract"}),
]
"""What stands behind ``compilefix``, and what is offered."""


@pytest.mark.parametrize(("line", "expected"), ASKED)
def test_verbs_options_and_values_are_completed(line: str, expected: set[str], tmp_path: Path) -> None:
    """No value needs torch; where files may stand, they are offered too."""
    answer = tmp_path / "answer"
    (tmp_path / "model.py").touch()
    line = f"compilefix {line}"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "_ARGCOMPLETE_COMP_WORDBREAKS": "",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    code = (
        "import os, sys\nfrom compilefix.cli import main\nleave = os._exit\n"
        "def exit(code):\n    assert 'torch' not in sys.modules\n    leave(code)\n"
        "os._exit = exit\nmain([])\nleave(99)"
    )
    path = os.pathsep.join([str(Path(compilefix.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked, "PYTHONPATH": path}, cwd=tmp_path, check=True
    )
    assert {word.strip() for word in answer.read_text().split("\n")} == expected


SHELLS = {
    "bash": """
eval "$(compilefix completion bash)"
COMP_LINE="compilefix $1"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
read -ra COMP_WORDS <<< "$COMP_LINE"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete compilefix; printf '%s\n' "${COMPREPLY[@]}"
""",
    "fish": """
compilefix completion fish | source
complete -C "compilefix $argv[1]"
""",
    "zsh": """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1="> "; autoload -U compinit; compinit -u -D; eval "$(compilefix completion zsh)"; print rea""dy'
zpty -r -m shell text '*ready*'
zpty -w -n shell "compilefix $1"$'\\t'
sleep 2
zpty -w -n shell $'\\x01print -r -- \\x05\\n'
zpty -w shell 'print do""ne'
zpty -r -m shell text '*done*'; print -r -- "$text"
""",
}
"""Scripts in which a real shell completes the line that is their first argument; zsh does it in a terminal."""


@pytest.mark.parametrize(
    ("line", "expected"), [("exp", "explain"), ("check --work", "--workarounds"), ("merge par", "part.json")]
)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_real_shell_completes(shell: str, line: str, expected: str, tmp_path: Path) -> None:
    """The printed code works in the shell that it is for."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")
    program = tmp_path / "bin" / "compilefix"
    program.parent.mkdir()
    call = "import sys; from compilefix.cli import main; sys.argv[0] = 'compilefix'; sys.exit(main())"
    root = Path(compilefix.__file__).parents[1]
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -c "{call}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "part.json").touch()
    (tmp_path / "script").write_text(SHELLS[shell], encoding="utf-8")
    options = {"bash": ["--norc"], "fish": ["--no-config"], "zsh": ["-f"]}[shell]
    around = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        [shell, *options, str(tmp_path / "script"), line],
        env=around | {"TERM": "dumb"}, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    found = {line.split("\t")[0].split()[-1] for line in done.stdout.splitlines() if line.split("\t")[0].split()}
    assert expected in found, done.stdout + done.stderr
