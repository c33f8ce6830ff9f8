"""The report for programs: the stable JSON of `CheckReport.to_json`, in plain ASCII."""

from __future__ import annotations

from compilefix.check import CheckReport
from compilefix.report.json import dumps


def render(report: CheckReport, *, width: int | None, color: bool) -> str:
    """Return the report as JSON."""
    return dumps(report.to_json())
