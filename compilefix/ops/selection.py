"""Which strategy an op takes: a switch, a measurement of this build, or what was measured on its release."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from compilefix import environment, gate, registry
from compilefix.errors import UsageError
from compilefix.gate import By, Decision
from compilefix.ops.drop_in import PLAIN, DropIn

Wrong = Mapping[str, list[str]]
"""Target to the names of the patterns that came out wrong; a target that was not measured is missing."""

LAST_RESORT = "opaque-clone"
"""What an op takes where no measurement decides."""

Table = Mapping[str, Mapping[str, Wrong]]
"""Op to strategy to `Wrong`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The strategy of one op on the running torch."""

    name: str
    strategy: str
    decision: Decision
    why: str
    """Where the choice of the strategy comes from."""

    warning: str | None = None
    """What was measured against this strategy, where it was taken by hand."""


def folder() -> Path:
    """Return the folder of the shipped measurements, one file a torch build."""
    return Path(__file__).parent / "measured"


@functools.cache
def shipped() -> dict[str, Table]:
    """Return what was measured before release: torch's public version to its table."""
    found: dict[str, Table] = {}
    for path in sorted(folder().glob("*.json")):
        raw: Any = json.loads(path.read_text(encoding="utf-8"))
        found[Version(raw["build"]["torch"]).public] = raw["ops"]
    return found


@functools.cache
def _records() -> registry.Registry:
    return registry.discover()


def right(wrong: Wrong) -> bool:
    """Tell whether a strategy was measured and nothing came out wrong on any target."""
    return bool(wrong) and not any(wrong.values())


def choose(drop_in: DropIn) -> Choice:
    """
    Return the strategy of `drop_in` for the running torch.

    On a torch that none of its records affects it is `PLAIN`. Elsewhere the cheapest strategy that was right on every
    pattern: on this build, else on this release, else on all releases that were measured where those lie on both sides
    of this one, else `LAST_RESORT`. Raises `UsageError` for a switch that names no strategy.
    """
    decision = decide(drop_in)
    asked = gate.forced().get(drop_in.name)
    if asked not in (None, "on", "off"):
        return Choice(
            name=drop_in.name,
            strategy=asked,
            decision=decision,
            why=f"{drop_in.name}={asked}",
            warning=measured_warning(drop_in, asked),
        )
    if not decision.on:
        return Choice(name=drop_in.name, strategy=PLAIN, decision=decision, why=decision.why)
    strategy, why = cheapest(drop_in)
    return Choice(name=drop_in.name, strategy=strategy, decision=decision, why=why)


def decide(drop_in: DropIn) -> Decision:
    """
    Decide whether `drop_in` is on: forced, wrong in a pattern on this build, or because one of its records is on.

    That all patterns are right does not overrule a record: some defects show in none of them.
    """
    name = drop_in.name
    each = [gate.decide(id, _records().get(id).known) for id in drop_in.records]
    need = next((d for d in each if d.on), None)
    here = gate.here().ops.get(name, {}).get(PLAIN)
    patterns = sorted({pattern for wrong in (here or {}).values() for pattern in wrong})
    healthy = need is None and not patterns
    switch = gate.forced().get(name)
    if switch is not None:
        if switch not in ("on", "off", *drop_in.strategies):
            known = ", ".join(("on", "off", *drop_in.strategies))
            raise UsageError(f"{gate.VARIABLE}: {name}={switch} is none of {known}")
        on = switch not in ("off", PLAIN)
        stale = f"torch {release()} does not need {name}={switch}; remove it" if on and healthy else None
        return Decision(subject=name, on=on, by=By.FORCED, why=f"{name}={switch}", stale=stale)
    if any(d.by is By.FORCED for d in each):
        return Decision(subject=name, on=need is not None, by=By.FORCED, why="; ".join(d.why for d in each))
    if patterns:
        why = f"wrong in {len(patterns)} patterns on this build ({', '.join(patterns)})"
        return Decision(subject=name, on=True, by=By.MEASURED, why=why)
    if need is not None:
        return Decision(subject=name, on=True, by=need.by, why=f"{need.subject}: {need.why}")
    if here:
        return Decision(subject=name, on=False, by=By.MEASURED, why="right in all patterns on this build")
    why = f"none of {', '.join(drop_in.records)} affects it" if drop_in.records else "no record is about it"
    return Decision(subject=name, on=False, by=By.RECORD, why=why)


def cheapest(drop_in: DropIn) -> tuple[str, str]:
    """Return the cheapest strategy that was right on every pattern, and where that was measured."""
    here, theirs = gate.here().ops.get(drop_in.name, {}), shipped().get(release(), {}).get(drop_in.name, {})
    for table, where in ((here, "measured on this build"), (theirs, f"measured on torch {release()}")):
        for strategy in drop_in.strategies:
            if strategy != PLAIN and right(table.get(strategy, {})):
                return strategy, where
    tables = {Version(v): t[drop_in.name] for v, t in shipped().items() if drop_in.name in t}
    if tables and min(tables) <= Version(release()) <= max(tables):
        for strategy in drop_in.strategies:
            if strategy != PLAIN and all(right(table.get(strategy, {})) for table in tables.values()):
                return strategy, f"right on {', '.join(str(v) for v in sorted(tables))}, which lie around this release"
    last = LAST_RESORT if LAST_RESORT in drop_in.strategies else list(drop_in.strategies)[-1]
    return last, f"not measured on torch {release()}, nor on releases around it"


def measured_warning(drop_in: DropIn, strategy: str) -> str | None:
    """Return what was measured against a strategy on this release, or None."""
    table = gate.here().ops.get(drop_in.name) or shipped().get(release(), {}).get(drop_in.name, {})
    wrong = table.get(strategy)
    if wrong is None:
        return f"{drop_in.name}={strategy} was not measured on torch {release()}"
    patterns = sorted({p for names in wrong.values() for p in names})
    return f"{drop_in.name}={strategy} is wrong on torch {release()}: {', '.join(patterns)}" if patterns else None


def release() -> str:
    """Return the release of the running torch, without its local part."""
    return Version(environment.facts()["torch"] or "0").public
