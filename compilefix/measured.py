"""Measured outcomes that ship with the repros: one machine-written file an environment."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from compilefix import __version__
from compilefix.check import CheckReport
from compilefix.errors import RecordError
from compilefix.issue import Truth
from compilefix.registry import shipped_folder

SCHEMA = 1
Cells = dict[str, dict[str, str]]
"""Environment name to target to outcome word."""


def folder() -> Path:
    """Return the folder of the shipped measurements."""
    return shipped_folder() / "measured"


def cells(id: str, where: Path | None = None) -> Cells:
    """
    Return all that was measured of one record; empty where nothing was.

    A contract's reference also says whether the statement holds: ``ok, does not hold``.
    """
    found: Cells = {}
    for path in sorted((where or folder()).glob("*.json")):
        outcomes = read(path)["outcomes"].get(id)
        if outcomes:
            found[path.stem] = {
                target: ", ".join(cell[name] for name in ("program", "claim") if name in cell)
                for target, cell in outcomes.items()
            }
    return found


def read(path: Path) -> dict[str, Any]:
    """Read one measured file; raise `RecordError` when it is damaged."""
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if raw["schema"] != SCHEMA or not isinstance(raw["outcomes"], dict):
            raise ValueError(f"schema must be {SCHEMA}")
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(f"{path}:1: not a measured file: {error}") from None
    return raw


def write(report: CheckReport, where: Path) -> Path:
    """
    Write the file of this environment into the folder `where`, whole, and return its path.

    Keys are sorted and times left out, so that two measurements of one build differ only where outcomes do.
    """
    environment = report.environment.to_json()
    for name in ("scrubbed", "missing"):
        environment.pop(name)
    outcomes: dict[str, dict[str, dict[str, str]]] = {}
    for result in report.results:
        row = outcomes[result.id] = {}
        for target, outcome in result.outcomes.items():
            cell = row[str(target)] = {"program": outcome.did.value}
            if "claim" in outcome.facts:
                cell["claim"] = (Truth.HOLDS if outcome.facts["claim"] else Truth.DOES_NOT_HOLD).value
            if target in result.workarounds:
                cell["workaround"] = result.workarounds[target].did.value
    raw = {
        "schema": SCHEMA,
        "compilefix": __version__,
        "recorded": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "environment": environment,
        "outcomes": outcomes,
    }
    where.mkdir(parents=True, exist_ok=True)
    path = where / f"{report.environment.slug}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(raw, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path
