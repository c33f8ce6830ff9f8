"""The report of one command run on two releases."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from compilefix.report import document
from compilefix.report.document import Document, Item, Part, plural
from compilefix.upgrade.commands import Run
from compilefix.upgrade.comparison import Comparison, Group, Status

_HEADINGS = {
    Status.REGRESSED: ("Regressed", "red"),
    Status.NEW: ("New only: fails on the new release, and did not pass on the old one", "red"),
    Status.BOTH: ("Failing on both", "yellow"),
    Status.FIXED: ("Fixed", "green"),
    Status.GONE: ("Gone, but these tests do not pass either", "magenta"),
}
_SHOWN = 8
"""Tests that are named of one group."""


def render(report: Comparison, format: str = "table", *, width: int | None = None, color: bool = False) -> str:
    """Return `report` in one of the formats of a document, ending with a newline."""
    return document.render(_document(report), report, format, width=width, color=color)


def _document(report: Comparison) -> Document:
    before, after = report.before.release, report.after.release
    warnings = [*report.warnings]
    if report.baseline is not None:
        warnings.append(f"no baseline: {document.shorten(report.baseline, 300)} (torch {before})")
    if report.after.invalid is not None:
        warnings.append(f"torch {after} says nothing: {document.shorten(report.after.invalid, 300)}")
    ids = dict.fromkeys(match.id for group in report.groups for match in group.matches)
    return Document(
        title=f"{shlex.join(report.command)}: torch {before} to {after}",
        warnings=tuple(warnings),
        parts=(*_groups(report), Part(heading="Runs", items=tuple(_runs(report))), *_output(report)),
        summary=_summary(report),
        commands=tuple(("Known, and what to do", f"compilefix explain {id}") for id in list(ids)[:3]),
    )


def _summary(report: Comparison) -> str:
    names = f"{report.before.release} to {report.after.release}"
    if report.baseline is not None or report.after.invalid is not None:
        what = "no baseline" if report.baseline is not None else f"{report.after.release} could not be judged"
        return f"{names}: inconclusive, {what}"
    counts = {s: sum(g.status is s for g in report.groups) for s in Status}
    told = [f"{n} {status.value}" for status, n in counts.items() if n]
    return f"{names}: {', '.join(told) or 'no failure on either'} (failures by root cause)"


def _groups(report: Comparison) -> Iterator[Part]:
    for status, (heading, style) in _HEADINGS.items():
        those = [group for group in report.groups if group.status is status]
        if those:
            yield Part(heading=heading, style=style, items=tuple(map(_group, those)))


def _group(group: Group) -> Item:
    first = group.signatures[0]
    places = [s.frame for s in group.signatures if s.frame]
    below = [("in", ", ".join(places))] if places else []
    more = len(group.tests) - _SHOWN
    tests = ", ".join(group.tests[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    below.append((plural(len(group.tests), "test"), tests))
    if group.note:
        below.append(("", group.note))
    below += [("known" if m.by == "error text" else "maybe", f"{m.id} ({m.by}): {m.title}") for m in group.matches]
    return Item(lead=first.error, text=first.message or group.symptom.value, below=tuple(below))


def _runs(report: Comparison) -> Iterator[Item]:
    for run in (report.before, report.after):
        yield Item(lead=run.release, text=_run(run))
    if report.commit:
        yield Item(lead="commit", text=report.commit)


def _run(run: Run) -> str:
    if run.torch is None:
        return run.invalid or "did not run"
    ended = run.signal or ("time limit" if run.timed_out else f"exit {run.exit_code}")
    counts = [f"{len(run.passed)} passed", f"{len(run.failures)} failed", f"{run.skipped} skipped"]
    git = f" ({run.torch_git[:8]})" if run.torch_git else ""
    return f"torch {run.torch}{git}, Python {run.python}: {', '.join(counts)}; {ended}; {run.seconds:.1f} s"


def _output(report: Comparison) -> Iterator[Part]:
    """Show what a run printed of which nothing else tells why it failed."""
    for run in (report.before, report.after):
        if run.invalid is not None and run.tail.strip():
            tail = "\n".join(run.tail.strip().splitlines()[-20:])
            yield Part(heading=f"End of the output on {run.release}", items=(Item(text=run.invalid, printed=tail),))
