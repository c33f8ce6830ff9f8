"""One warmed launcher for all diagnoses of a test session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compilefix.diagnosis import session, subject
from compilefix.diagnosis.result import Diagnosis
from compilefix.runner.process import Launcher
from compilefix.runner.session import default_isolation, open_launcher
from tests.conftest import CACHE

Diagnose = Callable[..., Diagnosis]


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """Start the launcher."""
    opened, _ = open_launcher(default_isolation(), CACHE)
    yield opened
    opened.close()


@pytest.fixture
def diagnose(launcher: Launcher, tmp_path: Path) -> Diagnose:
    """Diagnose FILE:FUNC, or the source of a file that defines ``program``; keyword arguments are options."""

    def run(program: str, *, config: dict[str, Any] | None = None, **options: Any) -> Diagnosis:
        name = program
        if "\n" in program:
            path = tmp_path / "theirs.py"
            path.write_text(program, encoding="utf-8")
            name = f"{path}:program"
        chosen = replace(session.Options(cure=False, minimise=False), **options)
        return session.run(lambda folder: subject.build(name, folder, config=config), chosen, launcher=launcher)

    return run
