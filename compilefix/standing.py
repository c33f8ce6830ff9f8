"""Where every drop-in op and every workaround stands on the running torch, and who said so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compilefix import environment, gate, ops, registry
from compilefix.asked import requests
from compilefix.errors import UsageError
from compilefix.gate import Decision
from compilefix.workarounds import offered

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One op or one record."""

    subject: str
    kind: str
    """``op`` or ``workaround``."""

    on: bool
    by: str
    """``forced``, ``measured here`` or ``record``."""

    why: str
    does: str
    """The strategy of an op; what the narrowest workaround does; empty where none is known."""

    stale: str | None = None
    """Why this is asked for although the running torch does not need it."""

    places: tuple[str, ...] = ()
    """``file:line`` of the sources that ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """All rows, and what they were decided on."""

    torch: str
    measured: str | None
    """Day on which `compilefix probe` measured this build; None where it has not."""

    rows: tuple[Row, ...] = field(default_factory=tuple)

    @property
    def stale(self) -> tuple[Row, ...]:
        """Rows that are asked for although this torch does not need them."""
        return tuple(row for row in self.rows if row.stale)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; stable, see `SCHEMA`."""
        rows = [asdict(row) | {"places": list(row.places)} for row in self.rows]
        return {"schema": SCHEMA, "torch": self.torch, "measured": self.measured, "rows": rows}


def status(paths: Iterable[Path] = ()) -> Status:
    """
    Decide every op and every workaround for the running torch.

    With `paths`, files and folders of Python source, calls of ``compilefix.workaround("gh…")`` and imports of
    ``compilefix.ops`` in them count as asked for. Raises `UsageError` for a path that does not exist and for a switch
    that is malformed or names nothing.
    """
    records = registry.discover()
    _check_switches({r.id for r in records.records})
    asked = requests(paths)
    rows = [_op(name, asked.get(f"op {name}", ())) for name in ops.names()]
    rows += [_record(r, asked.get(r.id, ())) for r in records.records if r.kind == "issue"]
    return Status(torch=environment.facts()["torch"] or "unknown", measured=gate.here().recorded, rows=tuple(rows))


def _check_switches(ids: set[str]) -> None:
    for subject in gate.forced():
        if subject not in ids and subject not in ops.names():
            raise UsageError(f"{gate.VARIABLE}: {subject!r} is neither a record nor a drop-in op")


def _op(name: str, places: tuple[str, ...]) -> Row:
    choice = ops.choice(name)
    stale = choice.decision.stale
    if places and not stale and choice.strategy == "plain":
        stale = f"compilefix.ops.{name} is torch's own on torch {environment.facts()['torch']}: {choice.why}"
    return _row(name, "op", choice.decision, choice.strategy, stale, places)


def _record(record: registry.Record, places: tuple[str, ...]) -> Row:
    decision = gate.decide(record.id, record.known)
    offers = offered(record)
    does = next(iter(offers.items()), None)
    stale = decision.stale or (gate.stale(record.id, record.known) if places else None)
    return _row(record.id, "workaround", decision, ": ".join(does) if does else "", stale, places)


def _row(subject: str, kind: str, decision: Decision, does: str, stale: str | None, places: tuple[str, ...]) -> Row:
    return Row(
        subject=subject,
        kind=kind,
        on=decision.on,
        by=decision.by.value,
        why=decision.why,
        does=does,
        stale=stale,
        places=places,
    )
