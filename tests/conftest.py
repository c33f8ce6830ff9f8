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

LONGEST = (
    "test_repros.py",
    "runner/test_isolation.py",
    "cli/test_check.py",
    "cli/test_measure.py",
    "cli/test_cuda_interpreted.py",
    "docs/test_site.py",
    "cli/test_workarounds.py",
    "cli/test_diagnose.py",
    "upgrade/test_environments.py",
    "cuda_interpreted/test_backend.py",
    "diagnosis/test_live.py",
    "ops/test_compiled.py",
    "report/test_page.py",
    "cli/test_doctor.py",
    "test_wheel.py",
)
"""Files that take minutes, the longest first: begun last, one of them would keep one worker of xdist busy alone."""


def pytest_configure(config: pytest.Config) -> None:
    """Let xdist take files in the order in which they are collected, not those with the most tests first."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In xdist's workers, begin with the longest files; the order of the others stays."""
    if hasattr(config, "workerinput"):
        rank = {HERE / name: number for number, name in enumerate(LONGEST)}
        items.sort(key=lambda item: rank.get(item.path, len(rank)))


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
