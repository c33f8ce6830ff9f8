"""What an upgrade changes, for a pull request."""

from __future__ import annotations

from compilefix.report import document
from compilefix.report.upgrade._document import documented
from compilefix.upgrade.difference import UpgradeReport


def render(report: UpgradeReport, *, width: int | None, color: bool) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    return document.markdown(documented(report))
