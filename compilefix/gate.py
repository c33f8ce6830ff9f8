"""
Whether the running torch needs a workaround, and who said so.

Three sources, strongest first: a switch that the user set, a measurement of this very build, the record's range.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import platformdirs
from packaging.version import Version

from compilefix import environment
from compilefix.condition import Condition
from compilefix.errors import UsageError
from compilefix.issue import Expectation, Known

SCHEMA = 1
VARIABLE = "COMPILEFIX_FORCE"


class By(str, Enum):
    """Who decided."""

    FORCED = "forced"
    MEASURED = "measured here"
    RECORD = "record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether something is on for the running torch. True in a condition when it is."""

    subject: str
    """Id of a record, or name of an op."""

    on: bool
    by: By
    why: str
    stale: str | None = None
    """Why it is on (or asked for) although this torch does not need it, with the release that fixed it."""

    def __bool__(self) -> bool:
        return self.on


@dataclass(frozen=True, slots=True)
class Measured:
    """What `compilefix probe` found on this build; empty where it has not run."""

    recorded: str | None = None
    records: Mapping[str, bool] = field(default_factory=dict)
    """Id to whether the record's program misbehaves here."""

    ops: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = field(default_factory=dict)
    """Op to strategy to target to the names of the patterns that came out wrong."""


_switches: dict[str, str] = {}
"""Switches set in code; they are stronger than the environment's."""


def forced() -> dict[str, str]:
    """
    Return all switches: subject to ``on``, ``off`` or, for an op, the name of a strategy.

    Raises `UsageError` where ``COMPILEFIX_FORCE`` is not a comma-separated list of ``subject=value``.
    """
    found: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in os.environ.get(VARIABLE, "").split(","))):
        subject, equals, value = (part.strip() for part in entry.partition("="))
        if not (subject and equals and value):
            raise UsageError(f"{VARIABLE}: {entry!r} must be subject=value, such as gh198094=on or slice_scatter=cat")
        found[subject] = value
    return found | _switches


def force(subject: str, value: str | None) -> None:
    """Set the switch of one record or op in this process; None takes it back. Ops that are already imported stay."""
    if value is None:
        _switches.pop(subject, None)
    else:
        _switches[subject] = value


def decide(id: str, known: Known) -> Decision:
    """
    Decide whether the workaround of one record is on.

    Unknown counts as affected: an unneeded workaround costs a little, a missing one costs a result. Raises
    `UsageError` for a switch that is neither ``on`` nor ``off``.
    """
    version = Version(environment.facts()["torch"] or "0")
    expected = known.expectation(version, environment.holds)
    record = expected is not Expectation.UNAFFECTED
    said = f"{expected.value} ({known.affected_text()})"
    switch = forced().get(id)
    measured = here().records.get(id)
    healthy = (not record) if measured is None else not measured
    if switch is not None:
        if switch not in ("on", "off"):
            raise UsageError(f"{VARIABLE}: {id}={switch} must be {id}=on or {id}=off")
        stale = _stale(id, known, version) if switch == "on" and healthy else None
        return Decision(subject=id, on=switch == "on", by=By.FORCED, why=f"{id}={switch}", stale=stale)
    if measured is not None:
        word = "misbehaves" if measured else "is right"
        return Decision(subject=id, on=measured, by=By.MEASURED, why=f"its program {word} on this build")
    return Decision(subject=id, on=record, by=By.RECORD, why=said)


def stale(id: str, known: Known) -> str | None:
    """Return why nobody needs the workaround of `id` on this torch, or None where it is needed or may be."""
    version = Version(environment.facts()["torch"] or "0")
    measured = here().records.get(id)
    if measured is None:
        measured = known.expectation(version, environment.holds) is not Expectation.UNAFFECTED
    return None if measured else _stale(id, known, version)


def _stale(id: str, known: Known, version: Version) -> str:
    fixed = [Version(span.fixed) for span in getattr(known, "affected", ()) if span.fixed]
    past = [release for release in fixed if release <= Version(version.public)]
    since = f"fixed in {max(past)}" if past else "not affected"
    return f"torch {version.public} does not need the workaround of {id} ({since}); remove it"


def when(*conditions: str) -> bool:
    """
    Tell whether all `conditions` hold for this process; what cannot be told counts as true, the safe side.

    A condition is ``torch>=2.9``, ``cudnn<9.15``, ``isa==avx512``, ``system==linux``, ``has torch.x.y``,
    ``lacks torch.x.y``, ``parameter torch.f.argument`` or ``setting torch._inductor.config.x``. Versions compare as
    records do: local parts dropped, a pre-release of an upper bound is below it. Raises `UsageError` for another form.
    """
    try:
        parsed = [Condition.parse(text) for text in conditions]
    except ValueError as error:
        raise UsageError(str(error)) from None
    return all(environment.holds(condition) is not False for condition in parsed)


def probe_path(build: Mapping[str, str | None]) -> Path:
    """Return where the measurement of one build is kept."""
    key = hashlib.sha256(json.dumps(dict(build), sort_keys=True).encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("compilefix")) / "probe" / f"{key}.json"


_here: dict[Path, Measured] = {}


def here() -> Measured:
    """Return what was measured on this build; read once a process."""
    folder = probe_path({}).parent
    if not folder.is_dir():
        return Measured()
    path = probe_path(environment.build())
    if path not in _here:
        _here[path] = read_probe(path)
    return _here[path]


def forget_here() -> None:
    """Read the measurement of this build again when it is next asked for."""
    _here.clear()


def read_probe(path: Path) -> Measured:
    """Read one measurement; an absent, damaged or older file is none."""
    try:
        raw: Any = json.loads(path.read_text(encoding="utf-8"))
        if raw["schema"] != SCHEMA:
            return Measured()
        return Measured(str(raw["recorded"]), dict(raw["records"]), dict(raw["ops"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Measured()
