"""The diagnosis for people: about ten lines."""

from __future__ import annotations

from compilefix.diagnosis.result import Conclusion, Diagnosis, Likeness, Trial
from compilefix.report.diagnosis._price import paid
from compilefix.report.interface import describe, where
from compilefix.report.signs import CONCLUSIONS
from compilefix.report.table import Page

LEAD = 12


def render(diagnosis: Diagnosis, *, width: int | None, color: bool) -> str:
    """Return what is wrong, where, since what is known, and what works instead."""
    page = Page(width, color=color)
    sign = CONCLUSIONS[diagnosis.conclusion]
    symptom = f": {diagnosis.symptom.value}" if diagnosis.symptom else ""
    page.paragraph(f"{page.symbol(sign)} {diagnosis.subject}: {diagnosis.conclusion.value}{symptom}", style=sign.color)
    for lead, text in _lines(diagnosis):
        page.paragraph(text, lead=f"{lead:{LEAD}}", lead_style="bold", indent=2)
    page.paragraph(f"{where(diagnosis.environment)} · {len(diagnosis.steps)} probes, {_seconds(diagnosis)}")
    return str(page)


def _lines(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    if diagnosis.conclusion is not Conclusion.DEFECT:
        lines += [("why", diagnosis.reason)] if diagnosis.reason else []
    else:
        outcome = diagnosis.outcome
        defects = outcome.defects if outcome else ()
        lines.append(("what", describe(defects[0]) if defects else diagnosis.reason or ""))
    if len(diagnosis.ladder) > 1:
        stages = [f"{t.backend if t.device == 'cpu' else t} {o.did.value}" for t, o in diagnosis.ladder.items()]
        lines.append(("stages", ", ".join(stages)))
    for culprit in diagnosis.culprits:
        sites = f" ({', '.join(culprit.sites[:3])}{'…' if len(culprit.sites) > 3 else ''})" if culprit.sites else ""
        lines.append(("culprit", f"{culprit.triple}{sites}: {culprit.how}"))
    places = dict.fromkeys(c.place for c in diagnosis.culprits if c.place)
    lines += [("your code", place) for place in places]
    lines += _known(diagnosis)
    lines += _cures(diagnosis)
    if diagnosis.minimal is not None:
        small = diagnosis.minimal
        lines.append(
            (
                "minimal",
                (
                    f"{small.nodes} of {small.nodes_before} operations, "
                    f"{small.elements} of {small.elements_before} elements"
                    if small.elements_before
                    else f"{small.nodes} of {small.nodes_before} statements"
                )
                + ("" if small.complete else " (time ran out before it was done)"),
            )
        )
    lines += [("stopped", "interrupted")] if diagnosis.interrupted else []
    lines += [("stopped", "the budget ran out; this is the best so far")] if diagnosis.out_of_time else []
    return lines + [("note", warning) for warning in diagnosis.warnings]


def _known(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    if diagnosis.conclusion is not Conclusion.DEFECT:
        return []
    if not diagnosis.matched:
        return [("known", "not looked up")]
    if not diagnosis.matches:
        return [("known", "not known")]
    shown = diagnosis.matches[:1] if diagnosis.matches[0].likeness is Likeness.SAME else diagnosis.matches[:2]
    return [("known", f"{m.likeness.value} {m.id} ({m.why}): {m.title}") for m in shown]


def _cures(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    best = diagnosis.recommended
    if best is None:
        tried = len(diagnosis.trials)
        return [("instead", f"none of {tried} workarounds cures it")] if tried else []
    lines = [
        ("instead", f"{best.cure.what} ({paid(best.cure)})"),
        *(("write", line) for line in best.code.splitlines()),
    ]
    others = diagnosis.cures[1:4]
    return lines + ([("also", "; ".join(_short(t) for t in others))] if others else [])


def _short(trial: Trial) -> str:
    return f"{trial.cure.what} ({paid(trial.cure)})"


def _seconds(diagnosis: Diagnosis) -> str:
    return f"{sum(diagnosis.phases.values()):.1f} s"
