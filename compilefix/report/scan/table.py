"""A scan for people: a line and a sentence a finding, as linters have it, then the sum."""

from __future__ import annotations

from compilefix.report.table import Page
from compilefix.scan.finding import RULES, Finding, ScanReport

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def render(report: ScanReport, *, notes: bool, width: int | None, color: bool) -> str:
    """Return the findings one after the other, each ``file:line:column``, code, name, source and what it comes to."""
    page = Page(width, color=color)
    for found in report.findings if notes else report.problems:
        _finding(page, found)
    counts = ", ".join(_counted(report)) or "nothing found"
    page.paragraph(f"{report.files} file{'s' * (report.files != 1)}: {counts}", style="bold")
    if any(f.edit for f in report.findings):
        page.command("What --fix would change", "compilefix scan --diff …")
    return str(page)


def _finding(page: Page, found: Finding) -> None:
    style = _STYLES[found.level]
    place = f"{found.file}:{found.line}:{found.column + 1}:"
    page.line((page.safe(place), "bold"), (" ", ""), (f"{found.rule} {RULES[found.rule].name}", style))
    if found.text:
        page.line(("    " + page.safe(_short(found.text)), "cyan"))
    page.paragraph(found.message, indent=4)
    if found.edit:
        page.paragraph(f"--fix: {found.edit}", indent=4, style="green")


def _short(text: str) -> str:
    return text if len(text) <= 110 else f"{text[:109]}…"


def _counted(report: ScanReport) -> list[str]:
    counted = []
    for level in ("error", "warning", "note"):
        number = sum(f.level == level for f in report.findings)
        if number:
            hidden = " (--all lists them)" if level == "note" else ""
            counted.append(f"{number} {level}{'s' * (number != 1)}{hidden}")
    changes = sum(f.edit is not None for f in report.findings)
    return [*counted, *([f"{changes} that --fix can deal with"] if changes else [])]
