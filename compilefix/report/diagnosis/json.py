"""The diagnosis for programs: the stable JSON of `Diagnosis.to_json`, in plain ASCII."""

from __future__ import annotations

import json

from compilefix.diagnosis.result import Diagnosis
from compilefix.report.json import strict


def render(diagnosis: Diagnosis, *, width: int | None, color: bool) -> str:
    """Return the diagnosis as JSON; numbers that JSON does not have become strings."""
    return json.dumps(strict(diagnosis.to_json()), indent=2, allow_nan=False, default=str) + "\n"
