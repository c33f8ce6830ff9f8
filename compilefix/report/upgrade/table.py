"""What an upgrade changes, for people at a terminal."""

from __future__ import annotations

from compilefix.report import document
from compilefix.report.upgrade._document import documented
from compilefix.upgrade.difference import UpgradeReport


def render(report: UpgradeReport, *, width: int | None, color: bool) -> str:
    """Return the parts of the report one below the other."""
    return document.text(documented(report), width=width, color=color)
