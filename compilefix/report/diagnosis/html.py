"""The page of a diagnosis: verdict, stages, the way to the culprit, graph diff, workarounds and what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix import registry
from compilefix.diagnosis.result import Conclusion, Diagnosis, GraphDiff, Minimal
from compilefix.report import html
from compilefix.report.diagnosis._path import Phase, phases
from compilefix.report.diagnosis._price import priced
from compilefix.report.html import highlighted
from compilefix.report.interface import block, describe, identity, upstream, where
from compilefix.report.signs import CONCLUSIONS

Fact = tuple[str, str, str | None]
"""Name, text, and where it links to."""

_DIFF = {"+": "add", "-": "del", "@": "hunk"}


def render(diagnosis: Diagnosis, *, width: int | None = None, color: bool = False, framed: bool = False) -> str:
    """Return the page; `width` and `color` mean nothing to it. `framed`: it stands in a frame of a notebook."""
    best, small = diagnosis.recommended, diagnosis.minimal
    links = {record.id: record.known.references for record in registry.discover().records} if diagnosis.matches else {}
    known = [(match, links.get(match.id) or upstream(match.id)) for match in diagnosis.matches]
    way = phases(diagnosis.steps, diagnosis.phases)
    values = {
        "d": diagnosis,
        "sign": CONCLUSIONS[diagnosis.conclusion],
        "where": where(diagnosis.environment),
        "seconds": sum(diagnosis.phases.values()),
        "stopped": _stopped(diagnosis),
        "facts": list(_facts(diagnosis, {match.id: urls for match, urls in known})),
        "best": highlighted(best.code) if best is not None else None,
        "ladder": list(html.steps(diagnosis.ladder, diagnosis.target)),
        "error": _error(diagnosis),
        "phases": way,
        "filters": _filters(way),
        "diffs": [(d.name, list(_lines(d)), d.left_out) for d in diagnosis.diffs],
        "no_diff": diagnosis.no_diff or "the diagnosis ended before it came to that",
        "trials": priced(diagnosis),
        "minimal": highlighted(small.source, small.good) if small is not None else None,
        "neighbour": highlighted(small.good, small.source) if small is not None and small.good is not None else None,
        "minimal_says": _size(small) if small is not None else "",
        "matches": known,
        "environment": list(identity(diagnosis.environment, diagnosis.seed)),
    }
    return html.render("diagnosis.html.j2", **values, parts=_parts(values), framed=framed)


def _parts(values: dict[str, object]) -> list[tuple[str, str]]:
    """Return id and name of the sections that this page has."""
    diagnosis = values["d"]
    assert isinstance(diagnosis, Diagnosis)
    parts = {
        "verdict": ("verdict", True),
        "stages": ("stages", values["ladder"]),
        "path": ("the way to it", values["phases"]),
        "diff": ("graph diff", diagnosis.target),
        "cures": ("workarounds", values["trials"]),
        "minimal": ("smallest program", values["minimal"]),
        "known": ("known issues", values["matches"]),
        "environment": ("environment", True),
    }
    return [(id, name) for id, (name, there) in parts.items() if there]


def _stopped(diagnosis: Diagnosis) -> str | None:
    if diagnosis.interrupted:
        return "It was interrupted; this is the best so far."
    return "The time that was set ran out; this is the best so far." if diagnosis.out_of_time else None


def _facts(diagnosis: Diagnosis, links: dict[str, tuple[str, ...]]) -> Iterator[Fact]:
    if diagnosis.conclusion is not Conclusion.DEFECT:
        healthy = diagnosis.conclusion is Conclusion.HEALTHY
        yield "why", diagnosis.reason or ("Compiled and plain code agree." if healthy else "No reason is known."), None
        return
    outcome = diagnosis.outcome
    defects = outcome.defects if outcome is not None else ()
    yield "what", describe(defects[0]) if defects else diagnosis.reason or "", None
    for culprit in diagnosis.culprits:
        yield "culprit", f"{culprit.triple}: {culprit.how}", None
    for place in dict.fromkeys(c.place for c in diagnosis.culprits if c.place):
        yield "your line", place, None
    if not diagnosis.matched:
        yield "known", "not looked up", None
    elif not diagnosis.matches:
        yield "known", "no issue that is known is like this one", None
    else:
        first = diagnosis.matches[0]
        urls = links[first.id]
        yield "known", f"{first.likeness.value} {first.id}: {first.title}", urls[0] if urls else f"#{first.id}"
    best = diagnosis.recommended
    if best is not None:
        table = priced(diagnosis)
        yield "instead", f"{best.cure.what} ({table[0].words})", "#cures"
        yield "verified", f"with it {best.cure.target} is {best.cure.outcome.did.value} on your own inputs", None
    elif diagnosis.trials:
        yield "instead", f"none of {len(diagnosis.trials)} workarounds cures it", "#cures"


def _error(diagnosis: Diagnosis) -> str | None:
    outcome = diagnosis.outcome
    if outcome is None or outcome.error is None:
        return None
    return block("\n".join(part for part in outcome.error if part))


def _filters(way: list[Phase]) -> dict[str, list[str]]:
    return {
        "phase": [phase.name for phase in way],
        "outcome": sorted({probe.cell.says for phase in way for probe in phase.probes}),
    }


def _lines(diff: GraphDiff) -> Iterator[tuple[str, str]]:
    """Yield style and text of each line; the two of the head name the graphs."""
    for i, line in enumerate(diff.text.splitlines()):
        yield ("hunk" if i < 2 else _DIFF.get(line[:1], "same")), line


def _size(small: Minimal) -> str:
    words = f"{small.nodes} of {small.nodes_before} {'operations' if small.elements_before else 'statements'}"
    if small.elements_before:
        words += f", {small.elements} of {small.elements_before} elements of its inputs"
    words += "" if small.complete else "; time ran out before it was done"
    marked = (
        "Marked: what the two do not share." if small.good is not None else "It has no neighbour that comes out right."
    )
    return f"{words}. It runs with torch alone. {marked}"
