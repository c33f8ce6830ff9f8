"""The diagnosis for programs: the stable JSON of `Diagnosis.to_json`, in plain ASCII."""

from __future__ import annotations

from compilefix.diagnosis.result import Diagnosis
from compilefix.report.json import dumps


def render(diagnosis: Diagnosis, *, width: int | None, color: bool) -> str:
    """Return the diagnosis as JSON."""
    return dumps(diagnosis.to_json())
