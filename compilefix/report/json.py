"""The report for programs: the stable JSON of `CheckReport.to_json`, in plain ASCII."""

from __future__ import annotations

import json
import math

from compilefix.check import CheckReport


def render(report: CheckReport, *, width: int | None, color: bool) -> str:
    """
    Return the report as JSON.

    Numbers that JSON does not have become the strings ``nan``, ``inf`` and ``-inf``: strict parsers refuse the rest.
    """
    return json.dumps(strict(report.to_json()), indent=2, allow_nan=False, default=str) + "\n"


def strict(value: object) -> object:
    """Return `value` with strings for the numbers that JSON does not have, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return value
