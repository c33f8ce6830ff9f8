"""A sign for everything that a report says with one, so that nothing is told by its colour alone."""

from __future__ import annotations

from typing import NamedTuple

from compilefix.cure import Effect
from compilefix.diagnosis.result import Conclusion
from compilefix.outcome import Did, Verdict
from compilefix.report.interface import Help
from compilefix.upgrade.matrix import State


class Sign(NamedTuple):
    """One sign, for terminals and for pages."""

    symbol: str
    ascii: str
    """Where the terminal has nothing else."""

    color: str
    """Style on a terminal, in rich's words."""

    tone: str = "none"
    """Style on a page: ``good``, ``bad``, ``against`` (the record) or ``none``."""


OUTCOMES = {
    Did.OK: Sign("✔", "+", "green", "good"),
    Did.NUMERICS: Sign("≈", "~", "yellow", "good"),
    Did.MISMATCH: Sign("✘", "x", "red", "bad"),
    Did.ERROR: Sign("!", "!", "red", "bad"),
    Did.MISSING_ERROR: Sign("∅", "0", "red", "bad"),
    Did.CRASH: Sign("†", "C", "red", "bad"),
    Did.HANG: Sign("∞", "H", "red", "bad"),
    Did.UNSUPPORTED: Sign("–", "-", "dim"),
    Did.UNRESOLVED: Sign("?", "?", "magenta"),
}
NOT_RUN = Sign("·", ".", "dim")
CONTRADICTION = Sign("✘", "x", "bold red", "against")
VERDICTS = {
    Verdict.REPRODUCES: Sign("●", "*", "yellow", "bad"),
    Verdict.DIFFER: Sign("≠", "#", "yellow", "bad"),
    Verdict.DOES_NOT_HOLD: Sign("○", "o", "cyan", "bad"),
    Verdict.HOLDS: Sign("✔", "+", "green", "good"),
    Verdict.CLEAR: Sign("✔", "+", "green", "good"),
    Verdict.UNSUPPORTED: Sign("–", "-", "dim"),
    Verdict.UNRESOLVED: Sign("?", "?", "magenta"),
    **dict.fromkeys((Verdict.REGRESSED, Verdict.FIXED_EARLY, Verdict.DIFFERENT), CONTRADICTION),
}
HELPS = {
    Help.WORKS: Sign("✔", "+", "green", "good"),
    Help.PARTLY: Sign("≈", "~", "yellow", "bad"),
    Help.NO_HELP: Sign("✘", "x", "red", "bad"),
    Help.UNCLEAR: Sign("?", "?", "magenta"),
    Help.NONE: Sign("–", "-", "dim"),
    Help.NOT_RUN: NOT_RUN,
}
EFFECTS = {
    Effect.CURES: Sign("✔", "+", "green", "good"),
    Effect.DOES_NOT_CURE: Sign("✘", "x", "red", "bad"),
    Effect.WORSE: Sign("✘", "X", "bold red", "bad"),
    Effect.NOT_NEEDED: Sign("–", "-", "dim"),
    Effect.UNCLEAR: Sign("?", "?", "magenta"),
}
CONCLUSIONS = {
    Conclusion.HEALTHY: Sign("✔", "+", "bold green", "good"),
    Conclusion.DEFECT: Sign("✘", "x", "bold red", "bad"),
    Conclusion.FAILS_PLAINLY: Sign("!", "!", "bold red", "against"),
    Conclusion.NOT_DETERMINISTIC: Sign("?", "?", "bold magenta"),
    Conclusion.UNRESOLVED: Sign("?", "?", "bold magenta"),
}
RELEASES = {
    State.BAD: Sign("✘", "x", "bold red", "bad"),
    State.GOOD: Sign("✔", "+", "green", "good"),
    State.NOT_MEASURED: Sign("·", ".", "dim"),
}
"""What was measured of a record on a release."""
