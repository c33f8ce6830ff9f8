"""The page: one self-contained file with matrix, search, filters and a section for every record. Needs no network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Number, String

from compilefix import registry
from compilefix.check import CheckReport
from compilefix.outcome import REFERENCE, Did, Difference, Outcome, Result, Target, Verdict
from compilefix.registry import Record
from compilefix.report.interface import because, cause, describe, ladders, price, sections, summary
from compilefix.text import visible
from compilefix.upgrade import matrix
from compilefix.upgrade.matrix import Matrix, State

SIGNS = {
    Did.OK: ("✔", "good"),
    Did.NUMERICS: ("≈", "good"),
    Did.MISMATCH: ("✘", "bad"),
    Did.ERROR: ("!", "bad"),
    Did.MISSING_ERROR: ("∅", "bad"),
    Did.CRASH: ("†", "bad"),
    Did.HANG: ("∞", "bad"),
    Did.UNSUPPORTED: ("–", "none"),
    Did.UNRESOLVED: ("?", "none"),
}
"""A sign for each outcome, so that none is told by its colour alone."""

STATES = {State.BAD: ("✘", "bad"), State.GOOD: ("✔", "good"), State.NOT_MEASURED: ("·", "none")}
VERDICTS = {
    **dict.fromkeys((Verdict.REPRODUCES, Verdict.DIFFER, Verdict.DOES_NOT_HOLD), "bad"),
    **dict.fromkeys((Verdict.REGRESSED, Verdict.FIXED_EARLY, Verdict.DIFFERENT), "against"),
    **dict.fromkeys((Verdict.CLEAR, Verdict.HOLDS), "good"),
}
COLOURED = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "m"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a matrix."""

    column: str
    sign: str
    style: str
    says: str
    """What the sign stands for, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One target of the stage ladder."""

    cell: Cell
    first_bad: bool
    seconds: float | None
    differences: tuple[tuple[str, Markup | None], ...]
    """Each in words, with its plot where there is one."""


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
    def stage(self) -> str:
        """Stage of the record; empty where it has none."""
        return (self.record.known.stage if self.record is not None else None) or ""


def render(report: CheckReport, *, width: int | None = None, color: bool = False) -> str:
    """Return the page; `width` and `color` mean nothing to it."""
    records = {record.id: record for record in registry.discover().records}
    measured = matrix.read(records=records.values())
    releases = [str(release) for release in measured.releases()]
    columns = list(dict.fromkeys(t for r in report.results for t in sorted(r.outcomes, key=_order)))
    columns.sort(key=_order)
    rows = [_row(r, report, records.get(r.id), columns, measured, releases) for r in report.results]
    return (
        environment()
        .get_template("check.html.j2")
        .render(
            summary=summary(report),
            torch=report.environment.torch,
            rows=rows,
            columns=[str(column) for column in columns],
            releases=releases,
            counts=_counts(report),
            filters=_filters(rows),
            notes=[(heading, lines) for heading, _, lines in sections(report)],
        )
    )


@cache
def environment() -> jinja2.Environment:
    """Return the templates of this folder; everything put into them is escaped."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("compilefix.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """Make text of programs fit to show; what is HTML already stays."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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
    written = (record.settings_source, record.workaround_source) if record is not None else ()
    told = [f"{target}: {outcome.did.value}" for target, outcome in result.workarounds.items()]
    told += [f"{c.kind}: {c.effect.value}" + (f" ({price(c)})" if price(c) else "") for c in cures]
    return Row(
        result=result,
        record=record,
        style=VERDICTS.get(result.verdict, "none"),
        because=because(result),
        targets=tuple(_cell(str(t), result.outcomes.get(t)) for t in columns),
        releases=tuple(_release(result.id, release, measured) for release in releases),
        ladders=tuple(_ladders(result)),
        workarounds=tuple(told),
        program=highlighted(record.program_source) if record is not None else None,
        instead=highlighted("\n\n".join(filter(None, written))) if any(written) else None,
        search=" ".join([result.id, result.label, culprit, *ops]).lower(),
    )


def _cell(column: str, outcome: Outcome | None) -> Cell:
    if outcome is None:
        return Cell(column=column, sign="", style="none", says="not run")
    sign, style = SIGNS[outcome.did]
    why = cause(outcome)
    return Cell(column=column, sign=sign, style=style, says=outcome.did.value + (f": {why}" if why else ""))


def _release(id: str, release: str, measured: Matrix) -> Cell:
    seen = measured.seen(id, release)
    sign, style = STATES[seen.state]
    why = ", ".join(seen.symptoms) or seen.reason or ""
    return Cell(column=release, sign=sign, style=style, says=seen.state.value + (f": {why}" if why else ""))


def _ladders(result: Result) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for ladder in ladders(result):
        steps = [
            Step(
                cell=_cell(str(ladder.target(backend)), outcome),
                first_bad=backend == ladder.first_bad,
                seconds=outcome.seconds,
                differences=tuple((describe(d), plot(d)) for d in outcome.differences),
            )
            for backend, outcome in ladder.outcomes.items()
        ]
        yield ladder.label, tuple(steps)


def _counts(report: CheckReport) -> list[tuple[str, int, str]]:
    styles = {verdict.value: VERDICTS.get(verdict, "none") for verdict in Verdict}
    return [(name, n, styles[name]) for name, n in report.summary.items()]


def _filters(rows: Sequence[Row]) -> Mapping[str, list[str]]:
    """Return what can be chosen, by name of the filter: only values that occur."""
    return {
        "verdict": sorted({row.result.verdict.value for row in rows}),
        "symptom": sorted({row.result.symptom.value for row in rows}),
        "stage": sorted({row.stage for row in rows if row.stage}),
        "op": sorted({op for row in rows if row.record is not None for op in row.record.known.ops}),
    }


def highlighted(source: str) -> Markup:
    """Return Python as HTML, with spans around comments, keywords, strings and numbers only, which keeps it small."""
    parts = []
    for kind, text in PythonLexer().get_tokens(source):
        style = _style(kind)
        parts.append(Markup('<span class="{}">{}</span>').format(style, text) if style else Markup.escape(text))
    return Markup("").join(parts)


def _style(kind: Any) -> str | None:
    return next((style for family, style in COLOURED if kind in family), None)


def plot(difference: Difference) -> Markup | None:
    """
    Return an SVG of how large the difference is in each part of the tensor, or None where nothing is known of that.

    Logarithmic; a dashed line marks how far the reference itself is from its float64 run.
    """
    profile = difference.profile
    if not profile or not any(profile):
        return None
    floor = difference.floor or 0.0
    known = [value for value in (*profile, floor) if value > 0]
    low, high = min(known) / 10, max(known)
    bar = 320 / len(profile)
    bars = Markup("").join(
        Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            i * bar, 60 - _height(value, low, high), max(bar - 0.6, 0.8), _height(value, low, high)
        )
        for i, value in enumerate(profile)
        if value > 0
    )
    line = Markup("")
    if floor > 0:
        y = 60 - _height(floor, low, high)
        line = Markup('<path class="floor" d="M0 {0:.1f}H320"/>').format(y)
    said = f"largest difference {high:.3g}; elements in order, {len(profile)} parts, logarithmic"
    said += f"; dashed: the plain run is up to {floor:.3g} from float64" if floor else ""
    return Markup('<svg role="img" viewBox="0 0 320 60" aria-label="{0}"><title>{0}</title>{1}{2}</svg>').format(
        said, bars, line
    )


def _height(value: float, low: float, high: float) -> float:
    return 58 * math.log(value / low) / math.log(high / low) if value > 0 else 0.0
