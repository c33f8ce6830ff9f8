"""Shared fixtures: one cache of compiled objects for all tests, and the command line as a subprocess."""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FIXTURES = HERE / "fixtures"
DEADLY = HERE / "fixtures_deadly"
CONTRACTS = HERE / "fixtures_contracts"
CACHE = Path(tempfile.gettempdir()) / f"compilefix-tests-{getpass.getuser()}"
"""Kept from one test run to the next: compiling C++ cold takes most of a minute."""

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def command(*arguments: str) -> list[str]:
    """Return the command line that runs compilefix."""
    return [sys.executable, "-m", "compilefix", *arguments]


def environ(state: Path, **changes: str) -> dict[str, str]:
    """Return the environment of a compilefix subprocess: shared cache, private state, no settings of the user."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("COMPILEFIX_", "TORCH", "NO_COLOR", "COLUMNS"))}
    return kept | {"COMPILEFIX_CACHE_DIR": str(CACHE), "XDG_STATE_HOME": str(state)} | changes


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run compilefix in an empty folder; returns the completed process with text output."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()

    def run(*arguments: str, timeout: float = 600, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=folder,
            env=environ(tmp_path / "state", **changes),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
