"""What an upgrade changes, for programs: the stable JSON of `UpgradeReport.to_json`."""

from __future__ import annotations

from compilefix.report.json import dumps
from compilefix.upgrade.difference import UpgradeReport


def render(report: UpgradeReport, *, width: int | None, color: bool) -> str:
    """Return the report as JSON."""
    return dumps(report.to_json())
