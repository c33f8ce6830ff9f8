"""A scan as GitHub-flavoured Markdown, for a pull request or an issue."""

from __future__ import annotations

from compilefix.report.markdown import code, escape
from compilefix.scan.finding import RULES, ScanReport


def render(report: ScanReport, *, notes: bool, width: int | None, color: bool) -> str:
    """Return a heading and a table of findings."""
    supported = f"torch {report.minimum or 'of any age'} to {report.maximum or 'the newest'}"
    head = f"## compilefix scan: {report.files} files, {escape(supported)}\n"
    shown = report.findings if notes else report.problems
    if not shown:
        return f"{head}\nNothing found.\n"
    lines = ["| place | rule | source | what |", "| --- | --- | --- | --- |"]
    for found in shown:
        place = code(f"{found.file}:{found.line}")
        rule = f"{found.rule} {RULES[found.rule].name}"
        source = code(found.text).replace("|", "\\|") if found.text else ""
        lines.append(f"| {place} | {rule} | {source} | {escape(found.message)} |")
    broken = [f"- {escape(line)}" for line in report.broken]
    tail = ["", "Not scanned:", "", *broken] if broken else []
    return "\n".join([head, *lines, *tail]) + "\n"
