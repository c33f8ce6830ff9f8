"""The report of a bisection: ready to paste into an issue."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.report import document
from compilefix.report.document import Document, Item, Part
from compilefix.upgrade.bisection import BisectReport, Found, Step

_STYLES = {Found.GOOD: "✔", Found.BAD: "✘", Found.SKIP: "–"}


def render(report: BisectReport, format: str = "table", *, width: int | None = None, color: bool = False) -> str:
    """Return `report` in one of the formats of a document, ending with a newline."""
    return document.render(_document(report), report, format, width=width, color=color)


def _document(report: BisectReport) -> Document:
    return Document(
        title=f"{report.subject}: {_headline(report)}",
        summary=_summary(report),
        warnings=report.warnings,
        parts=tuple(_parts(report)),
        commands=tuple(_commands(report)),
    )


def _commands(report: BisectReport) -> Iterator[tuple[str, str]]:
    if report.interrupted:
        yield "To continue", report.resume
    else:
        yield "To do it again", report.command
        yield "This result in another format, without running", f"{report.resume} --format …"


def _headline(report: BisectReport) -> str:
    if report.window is None:
        return f"torch {report.first} to {report.last}, not found"
    if report.find_fix:
        return f"fixed in torch {report.last_good}"
    return f"regression in torch {report.first_bad}"


def _summary(report: BisectReport) -> str:
    ran = [step for step in report.steps if step.by == "run"]
    cost = f"{len(report.steps)} releases looked at, {len(ran)} of them run in {sum(s.seconds for s in ran):.0f} s"
    if report.window is None:
        return f"no window: {report.problem}; {cost}"
    ends = f"last bad {report.first_bad}, first good {report.last_good}"
    if not report.find_fix:
        ends = f"last good {report.last_good}, first bad {report.first_bad}"
    skipped = report.skipped()
    between = f"; skipped between them: {', '.join(step.release for step in skipped)}" if skipped else ""
    return f"{ends}{between}; {cost}"


def _parts(report: BisectReport) -> Iterator[Part]:
    steps = sorted(report.steps, key=lambda step: _key(step.release))
    if steps:
        only = f"only {report.regress} counts as bad" if report.regress else ""
        listed = f"releases from {report.source}" if report.source else ""
        note = "; ".join(filter(None, (listed, only)))
        yield Part(heading="Releases", items=tuple(map(_step, steps)), note=note)
    if report.program:
        yield Part(heading="Program", items=(Item(text=report.subject, printed=report.program),))
    for release in report.window or ():
        step = report.step(release)
        if step is not None and step.environment:
            items = tuple(Item(lead=name, text=value) for name, value in step.environment.items())
            yield Part(heading=f"Environment of torch {release}, {step.found.value}", items=items)
    bad = report.step(report.first_bad) if report.first_bad else None
    if bad is not None and bad.evidence:
        yield Part(heading=f"On torch {bad.release}", items=(Item(text=bad.why, printed=bad.evidence),))


def _key(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


def _step(step: Step) -> Item:
    seconds = f", {step.seconds:.0f} s" if step.seconds else ""
    why = f": {document.shorten(step.why, 200)}" if step.why else ""
    return Item(lead=step.release, text=f"{_STYLES[step.found]} {step.found.value} ({step.by}{seconds}){why}")
