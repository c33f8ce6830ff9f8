"""The page of an upgrade: what appears, changes, stays and goes, and the user's own lines, with search and filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from compilefix import registry
from compilefix.registry import Record
from compilefix.report import html
from compilefix.report.html import Cell, highlighted
from compilefix.report.interface import one_line, upstream
from compilefix.report.signs import RELEASES, Sign
from compilefix.report.upgrade._document import HEADINGS, LINES, documented
from compilefix.upgrade.difference import UNTESTED, Change, Line, Row, Side, UpgradeReport
from compilefix.upgrade.matrix import State

_STATES = {State.BAD.value: State.BAD, State.GOOD.value: State.GOOD, UNTESTED: State.NOT_MEASURED}

OPEN = ("concerned", "needed", "other branch", Change.APPEARS.value, Change.CHANGES.value)
"""What is shown unfolded: what an upgrade makes one do something about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record on both releases."""

    row: Row
    cells: tuple[Cell, Cell]
    references: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    """Id on this page and place of each of the user's lines that it concerns."""

    program: Markup | None
    instead: Markup | None
    search: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """One of the user's lines; what it can be filtered by is that of its records."""

    id: str
    line: Line
    code: Markup
    records: tuple[tuple[str, bool], ...]
    """Each with whether this page has it."""

    change: str
    symptom: str
    device: str
    op: str
    search: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Entries under one heading."""

    id: str
    heading: str
    entries: Sequence[Entry] | Sequence[Own]
    own: bool
    """Whether these are the user's lines."""

    open: bool


def render(report: UpgradeReport, *, width: int | None = None, color: bool = False, framed: bool = False) -> str:
    """Return the page; `width` and `color` mean nothing to it. `framed`: it stands in a frame of a notebook."""
    rows = {row.id: row for row in report.rows if row.change in HEADINGS}
    own = _owned(report.lines, rows)
    records = {record.id: record for record in registry.discover().records}
    entries = {id: _entry(report, row, records.get(id), own) for id, row in rows.items()}
    groups = [
        Group(
            id=f"lines-{verdict.replace(' ', '-')}",
            heading=heading,
            entries=[one for one in own if one.line.verdict == verdict],
            own=True,
            open=verdict in OPEN,
        )
        for verdict, (heading, _) in LINES.items()
    ]
    groups += [
        Group(
            id=change.value,
            heading=heading,
            entries=[entry for entry in entries.values() if entry.row.change is change],
            own=False,
            open=change.value in OPEN,
        )
        for change, (heading, _) in HEADINGS.items()
    ]
    whole = documented(report)
    return html.render(
        "upgrade.html.j2",
        title=whole.title,
        summary=whole.summary,
        warnings=report.unmeasured and whole.warnings[: len(report.unmeasured)],
        releases=(report.before, report.after),
        groups=[group for group in groups if group.entries],
        number=len(entries) + len(own),
        filters=_filters(rows.values()),
        signs=_legend(),
        notes=[("Could not be read", [("", line) for line in report.broken])] if report.broken else [],
        framed=framed,
    )


def _legend() -> list[tuple[Sign, str]]:
    says = {State.BAD: "bad", State.GOOD: "good", State.NOT_MEASURED: "untested"}
    by_record = Sign("( )", "", "")
    return [*((RELEASES[state], text) for state, text in says.items()), (by_record, "by its record, not measured")]


def _entry(report: UpgradeReport, row: Row, record: Record | None, own: Sequence[Own]) -> Entry:
    program, instead = html.written(record)
    return Entry(
        row=row,
        cells=(_cell(report.before, row.before), _cell(report.after, row.after)),
        references=record.known.references if record is not None else upstream(row.id),
        lines=tuple((o.id, f"{o.line.file}:{o.line.line}") for o in own if row.id in o.line.records),
        program=program,
        instead=instead,
        search=one_line(" ".join([row.id, row.title, *row.ops, row.symptom])).lower(),
    )


def _cell(release: str, side: Side) -> Cell:
    sign = RELEASES[_STATES.get(side.state, State.NOT_MEASURED)]
    shown = f"({sign.symbol})" if side.by not in ("", "measured") else sign.symbol
    says = f"{side}: {side.why}" if side.why else str(side)
    return Cell(column=release, sign=shown, style=sign.tone, says=says)


def _owned(lines: Sequence[Line], rows: Mapping[str, Row]) -> list[Own]:
    taken: dict[str, int] = {}
    found = []
    for line in lines:
        place = "_".join(one_line(f"{line.file}:{line.line}").split())
        taken[place] = taken.get(place, 0) + 1
        those = [rows[id] for id in line.records if id in rows]
        found.append(
            Own(
                id=place if taken[place] == 1 else f"{place}:{taken[place]}",
                line=line,
                code=highlighted(line.text),
                records=tuple((id, id in rows) for id in line.records),
                change="|".join(dict.fromkeys(row.change.value for row in those)),
                symptom="|".join(dict.fromkeys(row.symptom for row in those)),
                device="|".join(dict.fromkeys(device for row in those for device in row.devices)),
                op="|".join(dict.fromkeys(op for row in those for op in row.ops)),
                search=one_line(f"{line.file}:{line.line} {line.op} {line.text} {line.message}").lower(),
            )
        )
    return found


def _filters(rows: Iterable[Row]) -> Mapping[str, list[str]]:
    """Return what can be chosen, by name of the filter: only values that occur."""
    rows = list(rows)
    changes = {row.change for row in rows}
    return {
        "change": [change.value for change in Change if change in changes],
        "symptom": sorted({row.symptom for row in rows}),
        "device": sorted({device for row in rows for device in row.devices}),
        "op": sorted({op for row in rows for op in row.ops}),
    }
