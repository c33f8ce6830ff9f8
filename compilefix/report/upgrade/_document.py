"""The report of an upgrade in parts: what appears, stays and goes, and which of the user's lines it concerns."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.report import document
from compilefix.report.document import Document, Item, Part, plural
from compilefix.upgrade.difference import Change, Line, Row, UpgradeReport

HEADINGS = {
    Change.APPEARS: ("Appears", "red"),
    Change.CHANGES: ("Plain code does otherwise", "yellow"),
    Change.UNTESTED: ("Untested on one of the two, or on both", "magenta"),
    Change.DISAPPEARS: ("Disappears", "green"),
    Change.STAYS: ("Stays", "yellow"),
}
"""In the order of what an upgrade asks for; what it changes nothing about comes last."""

LINES = {
    "concerned": ("Your lines: they call what is bad on the new release", "red"),
    "needed": ("Your workarounds that take effect", "yellow"),
    "other branch": ("Your version gates that decide otherwise", "yellow"),
    "dead": ("Your gates and workarounds that become dead", "yellow"),
    "untested": ("Your lines that call what nobody has tested", "magenta"),
}


def documented(report: UpgradeReport) -> Document:
    """Return what a terminal and Markdown show of `report`."""
    limited = f" on {report.target}" if report.target else ""
    warnings = [
        f"{text}; what is said of it is according to the records, the rest is untested" for text in report.unmeasured
    ]
    warnings += report.broken
    first = next(iter(report.of(Change.APPEARS) or report.of(Change.STAYS)), None)
    return Document(
        title=f"torch {report.before} to {report.after}{limited}",
        warnings=tuple(warnings),
        parts=(*_lines(report), *_rows(report)),
        summary=summed(report),
        commands=(("All that is known of one", f"compilefix explain {first.id}"),) if first else (),
    )


def summed(report: UpgradeReport) -> str:
    """Return the report in one line."""
    words = {
        Change.APPEARS: ("appears", "appear"),
        Change.CHANGES: ("changes", "change"),
        Change.DISAPPEARS: ("disappears", "disappear"),
        Change.STAYS: ("stays", "stay"),
        Change.UNTESTED: ("untested", "untested"),
        Change.CLEAR: ("on neither", "on neither"),
    }
    counts = {change: len(report.of(change)) for change in words}
    told = [f"{n} {words[change][n != 1]}" for change, n in counts.items() if n or change is Change.APPEARS]
    text = f"{report.before} to {report.after}, {plural(len(report.rows), 'record')}: {', '.join(told)}"
    if report.files is None:
        return text
    found = {verdict: sum(line.verdict == verdict for line in report.lines) for verdict in LINES}
    lines = ", ".join(f"{n} {verdict}" for verdict, n in found.items() if n) or "none concerned"
    return f"{text}; your lines in {plural(report.files, 'file')}: {lines}"


def _rows(report: UpgradeReport) -> Iterator[Part]:
    for change, (heading, style) in HEADINGS.items():
        rows = report.of(change)
        if rows:
            yield Part(heading=heading, style=style, items=tuple(_row(report, row) for row in rows))


def _row(report: UpgradeReport, row: Row) -> Item:
    about = f"{row.symptom} on {', '.join(row.devices)}" if row.record == "issue" or row.after.state == "bad" else ""
    if about and row.ops:
        about += f": {', '.join(row.ops)}"
    same = (row.before.state, row.before.by) == (row.after.state, row.after.by) and row.change is not Change.UNTESTED
    sides = (
        f"on both {row.after}"
        if same
        else "; ".join(
            f"{name} {side}{_why(side.why, row.change)}"
            for name, side in ((report.before, row.before), (report.after, row.after))
        )
    )
    if row.change in (Change.STAYS, Change.DISAPPEARS):
        return Item(lead=row.id, text=row.title, below=(("", "; ".join(filter(None, (about, sides)))),))
    below = [("", about)] if about else []
    if row.change is not Change.CHANGES:
        below.append(("", sides))
    if row.change in (Change.APPEARS, Change.CHANGES) and row.what_to_do:
        below.append(("what to do", row.what_to_do))
    return Item(lead=row.id, text=row.title, below=tuple(below))


def _why(why: str, change: Change) -> str:
    return f": {document.shorten(why, 160)}" if why and change in (Change.APPEARS, Change.UNTESTED) else ""


def _lines(report: UpgradeReport) -> Iterator[Part]:
    for verdict, (heading, style) in LINES.items():
        those = [line for line in report.lines if line.verdict == verdict]
        if those:
            yield Part(heading=heading, style=style, items=tuple(map(_line, those)))


def _line(line: Line) -> Item:
    op = f"{line.op}: " if line.kind == "call" and line.op else ""
    below = [("", document.shorten(line.text, 160))] if line.kind in ("gate", "workaround", "op") else []
    if line.edit:
        below.append(("edit", line.edit))
    return Item(lead=f"{line.file}:{line.line}", text=f"{op}{line.message}", below=tuple(below), literal=True)
