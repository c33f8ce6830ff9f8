"""A scan for programs: the stable JSON of `ScanReport.to_json`; notes are always in it."""

from __future__ import annotations

from compilefix.report.json import dumps
from compilefix.scan.finding import ScanReport


def render(report: ScanReport, *, notes: bool, width: int | None, color: bool) -> str:
    """Return the report as JSON."""
    return dumps(report.to_json())
