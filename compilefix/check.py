"""The outcome of one `check`: results, environment, and the exit code they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compilefix.cure import Cure, Effect
from compilefix.environment import Environment
from compilefix.errors import Exit, UsageError
from compilefix.notebook import Shown
from compilefix.outcome import PRESENT, Did, Outcome, Result, Target, Verdict

SCHEMA = 1
FAIL_ON = ("contradiction", "reproduces", "never")


@dataclass(frozen=True, kw_only=True)
class CheckReport(Shown):
    """Everything that a report format may show. Formats know this type and no record."""

    environment: Environment
    results: tuple[Result, ...]
    broken: tuple[str, ...] = ()
    """Records that could not be read, each as ``file:line: what is wrong``."""

    cures: tuple[Cure, ...] = ()
    """Workarounds put to the proof, where that was asked for."""

    interrupted: bool = False
    seconds: float = 0.0
    seed: int = 0
    warnings: tuple[str, ...] = field(default_factory=tuple)
    """What the reader must know of how the run went, such as a cache folder that could not be written."""

    @property
    def summary(self) -> dict[str, int]:
        """Return how many records got each verdict, zeros left out, in the order of `Verdict`."""
        counts = {v.value: sum(r.verdict is v for r in self.results) for v in Verdict}
        return {name: n for name, n in counts.items() if n}

    def exit_code(self, fail_on: str = "contradiction") -> Exit:
        """
        Return the exit code of this report.

        `fail_on` says what counts as a finding: ``contradiction`` (this torch contradicts a record), ``reproduces``
        (that, or any defect present), ``never``.
        """
        verdicts = {r.verdict for r in self.results}
        if self.interrupted:
            return Exit.INTERRUPTED
        if fail_on != "never" and any(r.contradicts for r in self.results):
            return Exit.FINDINGS
        if fail_on != "never" and any(cure.effect is Effect.WORSE for cure in self.cures):
            return Exit.FINDINGS
        if fail_on == "reproduces" and verdicts & set(PRESENT):
            return Exit.FINDINGS
        if self.broken:
            return Exit.HARNESS
        if Verdict.UNRESOLVED in verdicts or verdicts <= {Verdict.UNSUPPORTED}:
            return Exit.INCONCLUSIVE
        return Exit.EXPECTED

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the report; stable, see `SCHEMA`."""
        return {
            "schema": SCHEMA,
            "environment": self.environment.to_json(),
            "summary": self.summary,
            "results": [r.to_json() for r in self.results],
            "cures": [c.to_json() for c in self.cures],
            "broken": list(self.broken),
            "interrupted": self.interrupted,
            "seconds": self.seconds,
            "seed": self.seed,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> CheckReport:
        """Read what `to_json` wrote; raise `UsageError` for another schema or another file."""
        if not isinstance(raw, Mapping) or raw.get("schema") != SCHEMA or "results" not in raw:
            raise UsageError(f"not a compilefix check report of schema {SCHEMA}")
        try:
            return cls(
                environment=Environment.from_json(raw["environment"]),
                results=tuple(Result.from_json(r) for r in raw["results"]),
                cures=tuple(Cure.from_json(c) for c in raw.get("cures", ())),
                broken=tuple(raw["broken"]),
                interrupted=raw["interrupted"],
                seconds=raw["seconds"],
                seed=raw["seed"],
                warnings=tuple(raw["warnings"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"the check report is damaged: {type(error).__name__}: {error}") from None


def merge(reports: Iterable[CheckReport]) -> CheckReport:
    """
    Join the reports of shards or of devices of one torch build.

    The outcomes of a record that is in several reports are put together, the worse verdict wins. Reports of different
    torch builds raise `UsageError`.
    """
    reports = list(reports)
    if not reports:
        raise UsageError("nothing to merge")
    builds = {(r.environment.torch, r.environment.torch_git) for r in reports}
    if len(builds) > 1:
        names = ", ".join(sorted({torch for torch, _ in builds}))
        raise UsageError(f"the reports are of different torch builds ({names}); merge each build on its own")
    merged: dict[str, Result] = {}
    for result in (r for report in reports for r in report.results):
        other = merged.get(result.id)
        merged[result.id] = result if other is None else _join(other, result)
    first = reports[0].environment
    devices = tuple(dict.fromkeys(d for r in reports for d in r.environment.devices))
    missing = {t: why for t, why in first.missing.items() if all(t in r.environment.missing for r in reports)}
    return CheckReport(
        environment=replace(first, devices=devices, missing=missing),
        results=tuple(merged.values()),
        cures=tuple(c for r in reports for c in r.cures),
        broken=tuple(dict.fromkeys(b for r in reports for b in r.broken)),
        interrupted=any(r.interrupted for r in reports),
        seconds=round(sum(r.seconds for r in reports), 3),
        seed=reports[0].seed,
        warnings=tuple(dict.fromkeys(w for r in reports for w in r.warnings)),
    )


_WORST_FIRST = (
    *(Verdict.REGRESSED, Verdict.DIFFERENT, Verdict.REPRODUCES, Verdict.DIFFER, Verdict.FIXED_EARLY),
    *(Verdict.UNRESOLVED, Verdict.DOES_NOT_HOLD, Verdict.HOLDS, Verdict.CLEAR, Verdict.UNSUPPORTED),
)


_WORST_OUTCOME_FIRST = (
    *(Did.MISMATCH, Did.ERROR, Did.MISSING_ERROR, Did.CRASH, Did.HANG),
    *(Did.UNRESOLVED, Did.NUMERICS, Did.OK, Did.UNSUPPORTED),
)


def _join(a: Result, b: Result) -> Result:
    worse = min(a, b, key=_badness)
    outcomes, workarounds = _worse(a.outcomes, b.outcomes), _worse(a.workarounds, b.workarounds)
    return replace(worse, outcomes=outcomes, workarounds=workarounds)


def _badness(result: Result) -> tuple[bool, bool, int]:
    """Sort a contract's seen difference first, then what contradicts its record: no fixed order of words tells that."""
    contract = result.record == "contract"
    differ, against = result.verdict is Verdict.DIFFER, contract and result.contradicts
    return not differ, not against, _WORST_FIRST.index(result.verdict)


def _worse(a: Mapping[Target, Outcome], b: Mapping[Target, Outcome]) -> dict[Target, Outcome]:
    """Join the outcomes of both; of two on one target the worse stays, which is what the verdict rests on."""
    both = {t: min(a[t], b[t], key=lambda o: _WORST_OUTCOME_FIRST.index(o.did)) for t in a if t in b}
    return {**a, **b, **both}
