"""What pages are made of: templates, cells with a sign, highlighted code, plots, ladders."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Number, String

from compilefix.outcome import Difference, Outcome, Target
from compilefix.registry import Record
from compilefix.report.interface import cause, describe
from compilefix.report.signs import NOT_RUN, OUTCOMES
from compilefix.text import visible

COLOURED = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "m"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a matrix."""

    column: str
    sign: str
    style: str
    says: str
    """What the sign stands for, in words."""

    first: bool = False
    """Whether this is where it goes wrong first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One target of the stage ladder."""

    cell: Cell
    first_bad: bool
    seconds: float | None
    differences: tuple[tuple[str, Markup | None], ...]
    """Each in words, with its plot where there is one."""


def render(template: str, **values: object) -> str:
    """Return the page that `template` makes of `values`."""
    return environment().get_template(template).render(**values)


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


def cell(column: str, outcome: Outcome | None, *, first: bool = False) -> Cell:
    """Return the cell of what a run did; None: it did not run."""
    if outcome is None:
        return Cell(column=column, sign=NOT_RUN.symbol, style=NOT_RUN.tone, says="not run")
    sign = OUTCOMES[outcome.did]
    why = cause(outcome)
    says = outcome.did.value + (f": {why}" if why else "")
    return Cell(column=column, sign=sign.symbol, style=sign.tone, says=says, first=first)


def steps(outcomes: Mapping[Target, Outcome], first_bad: Target | None) -> Iterator[Step]:
    """Yield the steps of one ladder; what a later one repeats of the first bad one is not told again."""
    first = outcomes.get(first_bad) if first_bad is not None else None
    for target, outcome in outcomes.items():
        same = target != first_bad and first is not None and _told(outcome) == _told(first)
        shown = cell(str(target), replace(outcome, reason=f"as {first_bad}") if same else outcome)
        yield Step(
            cell=shown,
            first_bad=target == first_bad,
            seconds=outcome.seconds,
            differences=() if same else tuple((describe(d), plot(d)) for d in outcome.differences),
        )


def _told(outcome: Outcome) -> object:
    return outcome.did, cause(outcome), tuple(map(describe, outcome.differences))


def written(record: Record | None) -> tuple[Markup | None, Markup | None]:
    """Return the program of a record, and what to write instead: settings and rewrite; None where there is none."""
    if record is None:
        return None, None
    instead = "\n\n".join(filter(None, (record.settings_source, record.workaround_source)))
    return highlighted(record.program_source), highlighted(instead) if instead else None


def highlighted(source: str, other: str | None = None) -> Markup:
    """
    Return Python as HTML, with spans around comments, keywords, strings and numbers only, which keeps it small.

    With an `other` version of it, lines that are not in that are marked.
    """
    lines = _lines(source)
    if other is not None:
        matcher = difflib.SequenceMatcher(None, source.strip("\n").splitlines(), other.strip("\n").splitlines())
        same = {i for block in matcher.get_matching_blocks() for i in range(block.a, block.a + block.size)}
        lines = [one if i in same or not one else Markup("<mark>{}</mark>").format(one) for i, one in enumerate(lines)]
    return Markup("\n").join(lines) + Markup("\n")


def _lines(source: str) -> list[Markup]:
    """Return the lines of `source` in colour; a token that spans several is coloured on each."""
    lines = [Markup("")]
    for kind, text in PythonLexer().get_tokens(visible(source)):
        style = _style(kind)
        for i, piece in enumerate(text.split("\n")):
            if i:
                lines.append(Markup(""))
            if piece:
                lines[-1] += (
                    Markup('<span class="{}">{}</span>').format(style, piece) if style else Markup.escape(piece)
                )
    return lines[:-1] if not lines[-1] else lines


def _style(kind: Any) -> str | None:
    return next((style for family, style in COLOURED if kind in family), None)


def plot(difference: Difference) -> Markup | None:
    """
    Return an SVG of how large the difference is in each part of the tensor, and says so; None: nothing is known of it.

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
    drawn = Markup('<svg aria-hidden="true" viewBox="0 0 320 60">{}{}</svg>').format(bars, line)
    return drawn + Markup('<span class="soft caption">{0}</span>').format(said)


def _height(value: float, low: float, high: float) -> float:
    return 58 * math.log(value / low) / math.log(high / low) if value > 0 else 0.0
