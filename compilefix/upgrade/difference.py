"""What changes between two releases: from what was measured, and where nothing was, from what the records say."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from packaging.version import Version

from compilefix.condition import Condition
from compilefix.errors import Exit, UsageError
from compilefix.issue import STAGES, Contract, Expectation, Issue, Truth
from compilefix.notebook import Shown
from compilefix.outcome import INTERPRETED, Target
from compilefix.registry import Record
from compilefix.upgrade.environments import public
from compilefix.upgrade.matrix import Matrix, Seen, State

SCHEMA = 1
UNTESTED = "untested"


class Change(str, Enum):
    """What becomes of one record."""

    APPEARS = "appears"
    CHANGES = "changes"
    """Plain code does otherwise than before: a contract whose truth changes."""

    STAYS = "stays"
    UNTESTED = UNTESTED
    """Nobody knows of one of the two releases, or of both."""

    DISAPPEARS = "disappears"
    CLEAR = "clear"
    """Neither release has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is known of one record on one release."""

    state: str
    """``bad``, ``good`` or ``untested``."""

    by: str = ""
    """``measured``, or ``according to the record``; empty where it is untested."""

    why: str = ""
    """Symptoms and targets of a measurement; the range of a record; why it is untested."""

    def __str__(self) -> str:
        return f"{self.state} ({self.by})" if self.by else self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record on both releases."""

    id: str
    title: str
    record: str
    """``issue`` or ``contract``."""

    symptom: str
    devices: tuple[str, ...]
    ops: tuple[str, ...]
    what_to_do: str
    change: Change
    before: Side
    after: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One of the user's lines."""

    file: str
    line: int
    kind: str
    """``call`` of an op, version ``gate``, ``link`` to an upstream issue, ``workaround`` or drop-in ``op``."""

    verdict: str
    """
    ``concerned``: calls what is bad on the new release. ``dead``: not needed there any more. ``needed``: takes effect
    there. ``other branch``: a gate that decides otherwise. ``untested``: calls what may be bad there.
    """

    text: str
    message: str
    op: str | None = None
    records: tuple[str, ...] = ()
    edit: str | None = None


@dataclass(frozen=True, kw_only=True)
class UpgradeReport(Shown):
    """Everything that a report of an upgrade may show."""

    before: str
    after: str
    rows: tuple[Row, ...]
    lines: tuple[Line, ...] = ()
    files: int | None = None
    """Files of the user that were read; None where none was asked for."""

    target: str | None = None
    """Device or target that the report is limited to."""

    unmeasured: tuple[str, ...] = ()
    """Releases of the two of which nothing was measured, each with the reason."""

    broken: tuple[str, ...] = ()
    """Records and files that could not be read."""

    def of(self, change: Change) -> tuple[Row, ...]:
        """Return the rows of one change."""
        return tuple(row for row in self.rows if row.change is change)

    @property
    def summary(self) -> dict[str, int]:
        """Return how many records there are of each change, zeros included."""
        return {change.value: len(self.of(change)) for change in Change}

    def exit_code(self) -> Exit:
        """Return 1 where something appears or a line is more than untested, else 0; 3 for unreadable records."""
        told = any(line.verdict != UNTESTED for line in self.lines)
        if self.of(Change.APPEARS) or told:
            return Exit.FINDINGS
        return Exit.HARNESS if self.broken else Exit.EXPECTED

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; stable, see `SCHEMA`."""
        return {
            "schema": SCHEMA,
            "from": self.before,
            "to": self.after,
            "target": self.target,
            "unmeasured": list(self.unmeasured),
            "summary": self.summary,
            "rows": [_lists(asdict(row)) | {"change": row.change.value} for row in self.rows],
            "files": self.files,
            "lines": [_lists(asdict(line)) for line in self.lines],
            "broken": list(self.broken),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> UpgradeReport:
        """Read what `to_json` wrote; raise `UsageError` for another schema or another file."""
        if not isinstance(raw, Mapping) or raw.get("schema") != SCHEMA or "rows" not in raw:
            raise UsageError(f"not a compilefix upgrade report of schema {SCHEMA}")
        return cls(
            before=raw["from"],
            after=raw["to"],
            target=raw["target"],
            unmeasured=tuple(raw["unmeasured"]),
            rows=tuple(_read_row(row) for row in raw["rows"]),
            files=raw["files"],
            lines=tuple(Line(**dict(line) | {"records": tuple(line["records"])}) for line in raw["lines"]),
            broken=tuple(raw["broken"]),
        )


def _lists(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in raw.items()}


def _read_row(raw: Mapping[str, Any]) -> Row:
    fields = dict(raw) | {"devices": tuple(raw["devices"]), "ops": tuple(raw["ops"]), "change": Change(raw["change"])}
    return Row(**fields | {"before": Side(**raw["before"]), "after": Side(**raw["after"])})


def releases(before: str, after: str) -> tuple[str, str]:
    """Return both releases without local part; raise `UsageError` for what is none, and where they are the same."""
    pair = public(before), public(after)
    if Version(pair[0]) == Version(pair[1]):
        raise UsageError(f"--from and --to are the same release, {pair[0]}")
    return pair


def difference(
    before: str,
    after: str,
    records: Iterable[Record],
    matrix: Matrix,
    *,
    device: str | None = None,
    target: str | None = None,
) -> tuple[Row, ...]:
    """
    Return what becomes of each record, those that appear first.

    `device` and `target` leave only records about that device; then only measurements on it count. Raises `UsageError`
    for a release or a target that is none.
    """
    before, after = releases(before, after)
    wanted = Target.parse(target) if target is not None else None
    device = device or (wanted.device if wanted else None)
    rows = []
    for record in records:
        if device is not None and ("cuda" if device == INTERPRETED else device) not in record.known.devices:
            continue
        seen = [_seen(matrix, record, release, device, target) for release in (before, after)]
        sides = [_side(record, release, s, wanted) for release, s in zip((before, after), seen, strict=True)]
        rows.append(_row(record, (before, after), sides[0], sides[1], seen))
    order = list(Change)
    return tuple(sorted(rows, key=lambda row: (order.index(row.change), row.after.state != State.BAD.value)))


def affects(record: Record, release: str, matrix: Matrix) -> bool:
    """Tell whether `record` is bad on `release`, measured or according to the record."""
    return _side(record, release, matrix.seen(record.id, release), None).state == State.BAD.value


def unmeasured(matrix: Matrix, *names: str) -> tuple[str, ...]:
    """Return those of the releases `names` of which nothing was measured, with the reason."""
    found = {str(v) for v in matrix.releases()}
    told = {name: matrix.failed(name) if str(Version(name)) in found else "not measured" for name in names}
    return tuple(f"torch {name}: {reason}" for name, reason in told.items() if reason)


def _seen(matrix: Matrix, record: Record, release: str, device: str | None, target: str | None) -> Seen:
    if target is not None or device is None:
        return matrix.seen(record.id, release, target and str(Target.parse(target)))
    stages = ("inductor",) if device == INTERPRETED else STAGES
    each = [matrix.seen(record.id, release, f"{stage}:{device}") for stage in stages]
    bad = next((seen for seen in each if seen.state is State.BAD), None)
    return bad or each[-1]


def _side(record: Record, release: str, seen: Seen, target: Target | None) -> Side:
    if seen.state is not State.NOT_MEASURED:
        words = f"{', '.join(seen.symptoms)} on " if seen.symptoms else ""
        return Side(state=seen.state.value, by="measured", why=f"{words}{', '.join(seen.targets)}")
    why = seen.reason or "never run"
    if target is not None and target.rank < 1 + STAGES.index(record.known.stage):
        return Side(state=UNTESTED, why=f"{why}; the record is about {record.known.stage}")
    expected = record.known.expectation(Version(release), _here(release))
    text = record.known.affected_text()
    if expected is Expectation.UNKNOWN or (isinstance(record.known, Contract) and not record.known.differs):
        return Side(state=UNTESTED, why=f"{why}; the record says: {text}")
    state = State.BAD if expected is Expectation.AFFECTED else State.GOOD
    return Side(state=state.value, by="according to the record", why=text)


def _here(release: str) -> Any:
    """Return what answers a record's conditions on this machine without importing anything: few, the rest is open."""
    python, machine = platform.python_version(), platform.machine()
    facts: dict[str, str | None] = {"torch": release, "python": python, "machine": machine}
    facts["system"] = platform.system().lower()

    def holds(condition: Condition) -> bool | None:
        return condition.holds(facts, lambda kind, name: None)

    return holds


def _row(record: Record, names: tuple[str, str], before: Side, after: Side, seen: Sequence[Seen]) -> Row:
    known = record.known
    title = record.title
    change = _change(before, after)
    if isinstance(known, Contract):
        title = f"“{known.statement}”"
        truths = [_truth(known, name, s) for name, s in zip(names, seen, strict=True)]
        if None not in truths and truths[0] != truths[1] and change is not Change.APPEARS:
            change = Change.CHANGES
            title = f"{title}: {truths[0]} on {names[0]}, {truths[1]} on {names[1]}"
        elif change is Change.UNTESTED and not known.differs:
            change = Change.CLEAR if None not in truths else Change.UNTESTED
    disputed = isinstance(known, Issue) and known.disputed is not None
    return Row(
        id=record.id,
        title=title,
        record=record.kind,
        symptom=known.symptom.value,
        devices=known.devices,
        ops=known.ops,
        what_to_do=record.what_to_do,
        change=Change.CLEAR if disputed and change is Change.UNTESTED else change,
        before=before,
        after=after,
    )


def _change(before: Side, after: Side) -> Change:
    if UNTESTED in (before.state, after.state):
        return Change.UNTESTED
    bad = (before.state == "bad", after.state == "bad")
    return {
        (False, True): Change.APPEARS,
        (True, False): Change.DISAPPEARS,
        (True, True): Change.STAYS,
        (False, False): Change.CLEAR,
    }[bad]


def _truth(known: Contract, release: str, seen: Seen) -> str | None:
    """Return what plain code says of a contract's statement on `release`, measured or according to the record."""
    if seen.claim is not None:
        return seen.claim
    if known.expectation(Version(release)) is not Expectation.UNAFFECTED:
        return None
    expected = known.expected(Version(release))
    return expected.value if expected in (Truth.HOLDS, Truth.DOES_NOT_HOLD) else None
