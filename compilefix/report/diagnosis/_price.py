"""The workarounds of a diagnosis and what each costs, the best first, then those that do not help."""

from __future__ import annotations

from dataclasses import dataclass

from compilefix.cure import Cure, Effect
from compilefix.diagnosis.result import Diagnosis, Trial
from compilefix.report.signs import EFFECTS, Sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """One workaround as a line of a table."""

    what: str
    sign: Sign
    effect: str
    time: str
    breaks: str
    memory: str
    code: str
    best: bool
    words: str
    """All of the price in words."""


def paid(cure: Cure) -> str:
    """Return the price of a cure in words."""
    parts = [f"{cure.ratio:.2f}x the time" if cure.ratio is not None else "time not measured"]
    if cure.graph_breaks:
        parts.append(f"{cure.graph_breaks:+d} graph breaks")
    if cure.extra_bytes:
        parts.append(f"{cure.extra_bytes:+d} bytes")
    return ", ".join(parts)


def priced(diagnosis: Diagnosis) -> list[Priced]:
    """Return all workarounds that were tried; the first one is the one to take, where any cures."""
    cures = diagnosis.cures
    rest = sorted((t for t in diagnosis.trials if t not in cures), key=lambda t: t.width)
    return [_priced(trial, diagnosis.recommended) for trial in (*cures, *rest)]


def _priced(trial: Trial, best: Trial | None) -> Priced:
    cure = trial.cure
    return Priced(
        what=cure.what,
        sign=EFFECTS[cure.effect],
        effect=cure.effect.value if cure.effect is Effect.CURES else f"{cure.effect.value}: {cure.outcome.did.value}",
        time=f"{cure.ratio:.2f}x" if cure.ratio is not None else "not measured",
        breaks=_more(cure.graph_breaks),
        memory=_more(cure.extra_bytes, " bytes"),
        code=trial.code,
        best=trial is best,
        words=paid(cure),
    )


def _more(number: int | None, unit: str = "") -> str:
    if number is None:
        return "not measured"
    return f"{number:+,d}{unit}" if number else "no more"
