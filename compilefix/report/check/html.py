"""The page of a check: matrix, search, filters and a section for every record. One file, needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from compilefix import registry
from compilefix.check import CheckReport
from compilefix.outcome import REFERENCE, Did, Result, Target
from compilefix.registry import Record
from compilefix.report import html
from compilefix.report.html import Cell, Step
from compilefix.report.interface import because, ladders, price, sections, summary
from compilefix.report.signs import OUTCOMES, RELEASES, VERDICTS, Sign
from compilefix.upgrade import matrix
from compilefix.upgrade.matrix import Matrix, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record on the page."""

    result: Result
    record: Record | None
    style: str
    because: str
    targets: tuple[Cell, ...]
    releases: tuple[Cell, ...]
    ladders: tuple[tuple[str, tuple[Step, ...]], ...]
    workarounds: tuple[str, ...]
    program: Markup | None
    instead: Markup | None
    """The rewrite and the settings that help."""

    search: str

    @property
    def measured(self) -> list[tuple[Cell, list[str]]]:
        """The releases that have the same thing said of them, together."""
        found: dict[str, tuple[Cell, list[str]]] = {}
        for cell in self.releases:
            found.setdefault(cell.says, (cell, []))[1].append(cell.column)
        return list(found.values())

    @property
    def stage(self) -> str:
        """Stage of the record; empty where it has none."""
        return (self.record.known.stage if self.record is not None else None) or ""


def render(report: CheckReport, *, width: int | None = None, color: bool = False, framed: bool = False) -> str:
    """Return the page; `width` and `color` mean nothing to it. `framed`: it stands in a frame of a notebook."""
    records = {record.id: record for record in registry.discover().records}
    measured = matrix.read(records=records.values())
    releases = [str(release) for release in measured.releases()]
    columns = list(dict.fromkeys(t for r in report.results for t in sorted(r.outcomes, key=_order)))
    columns.sort(key=_order)
    rows = [_row(r, report, records.get(r.id), columns, measured, releases) for r in report.results]
    return html.render(
        "check.html.j2",
        summary=summary(report),
        torch=report.environment.torch,
        rows=rows,
        columns=[str(column) for column in columns],
        releases=releases,
        filters=_filters(rows),
        signs=_legend(),
        framed=framed,
        notes=[(heading, lines) for heading, _, lines in sections(report)],
    )


def _legend() -> list[tuple[Sign, str]]:
    words = {Did.NUMERICS: "rounding only", Did.MISSING_ERROR: "missing error"}
    signs = [(sign, words.get(did, did.value)) for did, sign in OUTCOMES.items()]
    signs.append((Sign("✘", "x", "red", "bad first-bad"), "first stage that goes wrong"))
    return [*signs, (RELEASES[State.NOT_MEASURED], "not run, or not measured")]


def _order(target: Target) -> tuple[bool, str, bool, int]:
    return target.backend != REFERENCE, target.device, target.dynamic, target.rank


def _row(
    result: Result,
    report: CheckReport,
    record: Record | None,
    columns: Sequence[Target],
    measured: Matrix,
    releases: Sequence[str],
) -> Row:
    ops = record.known.ops if record is not None else ()
    culprit = (getattr(record.known, "culprit", None) if record is not None else None) or ""
    cures = [cure for cure in report.cures if cure.id == result.id]
    program, instead = html.written(record)
    told = [f"{target}: {outcome.did.value}" for target, outcome in result.workarounds.items()]
    told += [f"{c.kind}: {c.effect.value}" + (f" ({price(c)})" if price(c) else "") for c in cures]
    firsts = {ladder.target(ladder.first_bad) for ladder in ladders(result) if ladder.first_bad}
    return Row(
        result=result,
        record=record,
        style=VERDICTS[result.verdict].tone,
        because=because(result),
        targets=tuple(html.cell(str(t), result.outcomes.get(t), first=t in firsts) for t in columns),
        releases=tuple(_release(result.id, release, measured) for release in releases),
        ladders=tuple(_ladders(result)),
        workarounds=tuple(told),
        program=program,
        instead=instead,
        search=" ".join([result.id, result.label, culprit, *ops]).lower(),
    )


def _release(id: str, release: str, measured: Matrix) -> Cell:
    seen = measured.seen(id, release)
    sign = RELEASES[seen.state]
    why = ", ".join(seen.symptoms) or seen.reason or ""
    return Cell(column=release, sign=sign.symbol, style=sign.tone, says=seen.state.value + (f": {why}" if why else ""))


def _ladders(result: Result) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for ladder in ladders(result):
        outcomes = {ladder.target(backend): outcome for backend, outcome in ladder.outcomes.items()}
        first = ladder.target(ladder.first_bad) if ladder.first_bad else None
        yield ladder.label, tuple(html.steps(outcomes, first))


def _filters(rows: Sequence[Row]) -> Mapping[str, list[str]]:
    """Return what can be chosen, by name of the filter: only values that occur."""
    return {
        "verdict": sorted({row.result.verdict.value for row in rows}),
        "symptom": sorted({row.result.symptom.value for row in rows}),
        "stage": sorted({row.stage for row in rows if row.stage}),
        "op": sorted({op for row in rows if row.record is not None for op in row.record.known.ops}),
    }
