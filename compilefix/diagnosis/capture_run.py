"""Run the user's own program, watch its graphs, and keep the first one that misbehaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compilefix.diagnosis.subject import Subject
from compilefix.errors import UsageError


def captured(command: Sequence[str], folder: Path, seconds: float) -> Subject:
    """Run `command` for at most `seconds` and return the first of its graphs that misbehaves."""
    raise UsageError("not yet")
