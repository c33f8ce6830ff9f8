"""
Records times releases, from the measured files: measured bad, measured good, not measured. Imports no torch.

The three are never mixed up: a target that could not run (``unsupported``), a run that the harness could not judge
(``unresolved``) and a release that does not install are all *not measured*, each with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from packaging.version import Version

from compilefix import measured, registry
from compilefix.environment import Environment
from compilefix.measured import Cell, Measurement
from compilefix.outcome import REFERENCE, Did, Target
from compilefix.registry import Record

CHANGED = "the program has changed since it was measured"


class State(str, Enum):
    """What was measured of one record on one release."""

    BAD = "bad"
    GOOD = "good"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A state, and what it rests on."""

    state: State
    symptoms: tuple[str, ...] = ()
    """What is wrong, in the words of `compilefix.issue.Symptom`; empty unless the state is bad."""

    reason: str | None = None
    """Why it is not measured; None for the other two."""

    targets: tuple[str, ...] = ()
    """The targets that say so."""

    claim: str | None = None
    """What the plain program says of a contract's statement: ``holds`` or ``does not hold``; None for an issue."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """All measured files of one folder."""

    measurements: tuple[Measurement, ...] = field(default_factory=tuple)

    @property
    def environments(self) -> tuple[Environment, ...]:
        """The environments in which something was measured, oldest release first."""
        return tuple(m.environment for m in self.measurements if m.failed is None)

    def releases(self) -> tuple[Version, ...]:
        """Return the public versions of torch that were tried, sorted, those that failed to install included."""
        return tuple(sorted({_release(m) for m in self.measurements}))

    def failed(self, release: Version | str) -> str | None:
        """Return why a release could not be measured at all, or None."""
        found = [m for m in self.measurements if _release(m) == _public(release)]
        return found[0].failed if found and all(m.failed for m in found) else None

    def ids(self) -> tuple[str, ...]:
        """Return the ids of all records of which something was measured."""
        return tuple(sorted({id for m in self.measurements for id in m.rows}))

    def state(self, id: str, release: Version | str, target: str | None = None) -> State:
        """
        Return what was measured of record `id` on `release`, the worst of its environments.

        Without `target`, the targets that the record is about count; a CPU record's run for an interpreted GPU is
        another question. With it (``inductor:cpu``, ``inductor:cuda-interpreted``) that one alone.
        """
        return self.seen(id, release, target).state

    def seen(self, id: str, release: Version | str, target: str | None = None) -> Seen:
        """Return the same with symptoms and reason."""
        found = [_seen(cells) for cells in self._cells(id, release, target)]
        for state in (State.BAD, State.GOOD):
            those = [seen for seen in found if seen.state is state]
            if those:
                symptoms = dict.fromkeys(s for seen in those for s in seen.symptoms)
                targets = dict.fromkeys(t for seen in those for t in seen.targets)
                return Seen(state=state, symptoms=tuple(symptoms), targets=tuple(targets), claim=those[0].claim)
        reasons = [seen.reason for seen in found if seen.reason]
        reason = reasons[0] if reasons else self.failed(release) or "never run"
        return Seen(state=State.NOT_MEASURED, reason=reason)

    def _cells(self, id: str, release: Version | str, target: str | None) -> Iterator[dict[str, Cell]]:
        for measurement in self.measurements:
            row = measurement.rows.get(id)
            if row is None or _release(measurement) != _public(release):
                continue
            if target is None:
                yield row.targets
            else:
                wanted = (target, str(Target.parse(target).reference))
                both = {**row.beside, **row.targets}
                yield {name: both[name] for name in wanted if name in both}


def read(folder: Path | None = None, records: Iterable[Record] | None = None) -> Matrix:
    """
    Read the measured files of `folder`, by default the shipped ones; raise `RecordError` where one is damaged.

    With `records`, by default the shipped ones for the shipped folder, what was measured of a program that is another
    one by now counts as not measured, and what was measured of no record at all is left out.
    """
    if folder is None and records is None:
        records = registry.discover().records
    found = [m for path in measured.files(folder) for m in measured.load(path)]
    if records is not None:
        digests = {record.id: measured.digest(record) for record in records}
        found = [_current(measurement, digests) for measurement in found]
    return Matrix(measurements=tuple(sorted(found, key=lambda m: (_release(m), m.environment.slug))))


def _current(measurement: Measurement, digests: dict[str, str]) -> Measurement:
    rows = {id: row for id, row in measurement.rows.items() if id in digests}
    stale = frozenset(id for id, row in rows.items() if row.digest != digests[id])
    changed = Cell(did=Did.UNRESOLVED, reason=CHANGED)
    none = {id: replace(rows[id], targets=dict.fromkeys(rows[id].targets, changed), beside={}) for id in stale}
    return replace(measurement, rows={**rows, **none})


def _seen(cells: dict[str, Cell]) -> Seen:
    compiled = {name: cell for name, cell in cells.items() if Target.parse(name).backend != REFERENCE}
    claims = [cell.claim for name, cell in cells.items() if name not in compiled and cell.claim is not None]
    claim = claims[0] if claims else None
    bad = {name: cell for name, cell in compiled.items() if cell.did.bad}
    if bad:
        symptoms = dict.fromkeys(s for cell in bad.values() for s in cell.symptoms or (cell.did.value,))
        return Seen(state=State.BAD, symptoms=tuple(symptoms), targets=tuple(bad), claim=claim)
    ran = {name: cell for name, cell in compiled.items() if cell.did.good}
    rest = {name: cell for name, cell in compiled.items() if name not in ran}
    furthest = max((Target.parse(name).rank for name in compiled), default=0)
    reached = any(Target.parse(name).rank == furthest for name in ran)
    if reached and not any(cell.did is Did.UNRESOLVED for cell in rest.values()):
        return Seen(state=State.GOOD, targets=tuple(ran), claim=claim)
    name, cell = next(iter(rest.items()), (None, None))
    if cell is None or cell.reason == CHANGED:
        return Seen(state=State.NOT_MEASURED, reason=cell.reason if cell else "never run", claim=claim)
    return Seen(state=State.NOT_MEASURED, reason=f"{name} {cell.did.value}: {cell.reason or 'no reason given'}")


def _release(measurement: Measurement) -> Version:
    return _public(measurement.environment.torch)


def _public(release: Version | str) -> Version:
    return Version(Version(str(release)).public)


def summary(matrix: Matrix, ids: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return for each release how many of the records `ids` are bad, good and not measured."""
    table: dict[str, dict[str, Any]] = {}
    for release in matrix.releases():
        states = [matrix.state(id, release) for id in ids]
        table[str(release)] = {state.value: states.count(state) for state in State}
    return table
