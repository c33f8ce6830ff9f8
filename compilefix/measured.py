"""Measured outcomes that ship with the repros: one machine-written file an environment."""

from __future__ import annotations

import ast
import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from compilefix import __version__
from compilefix.check import CheckReport
from compilefix.environment import Environment
from compilefix.errors import RecordError
from compilefix.issue import Contract, Symptom, Truth
from compilefix.outcome import Did, Difference, Outcome, Result, Target, judge
from compilefix.registry import Record, shipped_folder
from compilefix.text import first_line

SCHEMA = 2
"""Form of a measured file."""

JUDGED = 2
"""Part of every digest: raise it when the harness judges runs otherwise than before, and all is measured again."""

Cells = dict[str, dict[str, str]]
"""Environment name to target to outcome word."""

_RUN = frozenset(
    {"symptom", "devices", "requires", "compile", "config", "workaround_config", "limit", "random", "caches"}
    | {"expects", "strict"}
)
"""Fields of a record that decide how its program is run; a change of any other leaves what was measured valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one record did on one target."""

    did: Did
    symptoms: tuple[str, ...] = ()
    """What is wrong, in the words of `compilefix.issue.Symptom`; empty unless the outcome is bad."""

    claim: str | None = None
    """On a contract's reference: ``holds`` or ``does not hold``."""

    workaround: str | None = None
    """Outcome word of the workaround, where the program is bad and a workaround was run."""

    reason: str | None = None
    """Why there is nothing to say, for ``unsupported`` and ``unresolved``."""

    def to_json(self) -> str | dict[str, Any]:
        """Return the outcome word where there is nothing else to say, else a JSON object without what is unset."""
        raw = {"program": self.did.value, "symptoms": ", ".join(self.symptoms), "claim": self.claim}
        raw |= {"workaround": self.workaround, "reason": self.reason}
        told = {name: value for name, value in raw.items() if value}
        return told if len(told) > 1 else self.did.value

    @classmethod
    def from_json(cls, raw: str | Mapping[str, Any]) -> Cell:
        """Read what `to_json` wrote."""
        if isinstance(raw, str):
            return cls(did=Did(raw))
        return cls(
            did=Did(raw["program"]),
            symptoms=tuple(filter(None, raw.get("symptoms", "").split(", "))),
            claim=raw.get("claim"),
            workaround=raw.get("workaround"),
            reason=raw.get("reason"),
        )

    @classmethod
    def of(cls, outcome: Outcome, workaround: Outcome | None) -> Cell:
        """Keep of an outcome what is the same on every run of one build: no times, no values."""
        claim = outcome.facts.get("claim")
        silent = outcome.did in (Did.UNSUPPORTED, Did.UNRESOLVED)
        return cls(
            did=outcome.did,
            symptoms=tuple(sorted(symptom.value for symptom in outcome.symptoms)),
            claim=None if claim is None else (Truth.HOLDS if claim else Truth.DOES_NOT_HOLD).value,
            workaround=workaround.did.value if workaround is not None else None,
            reason=first_line(outcome.reason or "no reason given", 160) if silent else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All that was measured of one record in one environment."""

    digest: str
    """`digest` of the repro that was run."""

    recorded: str
    """Day of the measurement, such as ``2026-11-29``."""

    targets: dict[str, Cell]
    """Targets that the record is about, the reference included."""

    beside: dict[str, Cell] = field(default_factory=dict)
    """Targets that the record says nothing about: a CPU record's program compiled for an interpreted GPU."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        raw: dict[str, Any] = {"digest": self.digest, "recorded": self.recorded}
        raw["targets"] = {name: cell.to_json() for name, cell in self.targets.items()}
        if self.beside:
            raw["beside"] = {name: cell.to_json() for name, cell in self.beside.items()}
        return raw

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Row:
        """Read what `to_json` wrote."""
        both = [{t: Cell.from_json(c) for t, c in raw.get(name, {}).items()} for name in ("targets", "beside")]
        return cls(digest=raw["digest"], recorded=raw["recorded"], targets=both[0], beside=both[1])


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What was measured of one torch build on one machine."""

    environment: Environment
    rows: dict[str, Row] = field(default_factory=dict)
    failed: str | None = None
    """Why nothing could be run: ``does not install: …`` or ``does not import: …``."""

    place: str | None = None
    """Resource of a cluster's worker that this was measured on, where it was asked for by name."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object, without what differs from run to run."""
        environment = {n: v for n, v in self.environment.to_json().items() if n not in ("scrubbed", "missing")}
        raw: dict[str, Any] = {"environment": environment, "outcomes": {i: r.to_json() for i, r in self.rows.items()}}
        return raw | {n: v for n, v in (("failed", self.failed), ("place", self.place)) if v}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Measurement:
        """Read what `to_json` wrote."""
        return cls(
            environment=Environment.from_json({**raw["environment"], "scrubbed": [], "missing": {}}),
            rows={id: Row.from_json(row) for id, row in raw["outcomes"].items()},
            failed=raw.get("failed"),
            place=raw.get("place"),
        )


def folder() -> Path:
    """Return the folder of the shipped measurements."""
    return shipped_folder() / "measured"


def files(where: Path | None = None) -> list[Path]:
    """Return the measured files of a folder, by default the shipped one."""
    return sorted((where or folder()).glob("*.json"))


def load(path: Path) -> tuple[Measurement, ...]:
    """Read one measured file, a measurement a machine; raise `RecordError` when it is damaged."""
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if raw["schema"] != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}")
        return tuple(Measurement.from_json(part) for part in (raw, *raw.get("machines", ())))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{path}:1: not a measured file: {type(error).__name__}: {error}") from None


Loaded = Sequence[tuple[Path, tuple[Measurement, ...]]]
"""Measured files with what is in them."""


def loaded(where: Path | None = None) -> Loaded:
    """Read all measured files of a folder, by default the shipped one; raise `RecordError` where one is damaged."""
    return [(path, load(path)) for path in files(where)]


def cells(id: str, where: Path | None = None, known: Loaded | None = None) -> Cells:
    """
    Return all that was measured of one record; empty where nothing was.

    With `known`, which `loaded` returns, no file is read: for whoever asks about many records. A contract's reference
    also says whether the statement holds: ``ok, does not hold``.
    """
    found: Cells = {}
    for path, measurements in loaded(where) if known is None else known:
        for i, measurement in enumerate(measurements):
            row = measurement.rows.get(id)
            if row is not None:
                name = path.stem if i == 0 else f"{path.stem} ({measurement.place or measurement.environment.isa})"
                both = {**row.targets, **row.beside}
                found[name] = {t: ", ".join(filter(None, (c.did.value, c.claim))) for t, c in both.items()}
    return found


def digest(record: Record) -> str:
    """
    Return what identifies the program that a record runs, and how it is run and judged.

    The text of the repro without its docstring and without fields that only tell about it, such as `affected`: a
    record that is put right by a measurement needs no second one.
    """
    lines = record.source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text, kept, end = record.source.encode(), [], 0
    for node in _told(ast.parse(record.source)):
        kept.append(text[end : starts[node[0] - 1] + node[1]])
        end = starts[node[2] - 1] + node[3]
    kept.append(text[end:])
    words = [line.strip(b" \t\r\n,") for line in b"".join(kept).splitlines() if line.strip(b" \t\r\n,")]
    return hashlib.sha256(b"\n".join([str(JUDGED).encode(), *words])).hexdigest()[:16]


def _told(tree: ast.Module) -> Iterable[tuple[int, int, int, int]]:
    """Yield where in the file its docstring and the fields of the record lie that do not decide how it is run."""
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="compilefix.issue"):
                yield _span(node)
            case ast.Assign(targets=[ast.Name(id="ISSUE" | "CONTRACT")], value=ast.Call(keywords=keywords)):
                yield from (_span(keyword) for keyword in keywords if keyword.arg not in _RUN)


def _span(node: ast.stmt | ast.keyword) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


def row(record: Record, result: Result) -> Row:
    """Return what a result says of a record, kept for good."""
    made: dict[bool, dict[str, Cell]] = {False: {}, True: {}}
    for target, outcome in result.outcomes.items():
        about = not target.interpreted or "cuda" in record.known.devices
        made[not about][str(target)] = Cell.of(outcome, result.workarounds.get(target))
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return Row(digest=digest(record), recorded=today, targets=made[False], beside=made[True])


def result(record: Record, measurement: Measurement) -> Result | None:
    """
    Hold what was measured of a record against what it says now; None where nothing was measured.

    Judged as a check judges, on the environment's facts, so conditions (``where=``) count. Only the record's own
    targets do: what is `Row.beside` contradicts nothing.
    """
    row = measurement.rows.get(record.id)
    if row is None:
        return None
    known, version = record.known, Version(measurement.environment.torch)
    holds, outcomes = measurement.environment.holds, {Target.parse(t): _outcome(c) for t, c in row.targets.items()}
    contract = known if isinstance(known, Contract) else None
    return Result(
        id=record.id,
        title=record.title,
        record=record.kind,
        statement=contract.statement if contract is not None else None,
        truth=contract.expected(version, holds) if contract is not None else None,
        has_workaround=record.has_workaround,
        symptom=known.symptom,
        verdict=judge(known, version, outcomes, holds),
        expected=known.expectation(version, holds),
        outcomes=outcomes,
    )


def _outcome(cell: Cell) -> Outcome:
    """Return as much of an outcome as was kept of it."""
    seen = [Difference(what="values", leaf="", symptom=Symptom(s)) for s in cell.symptoms]
    return Outcome(
        did=cell.did,
        reason=cell.reason,
        differences=tuple(seen if cell.did is Did.MISMATCH else ()),
        facts={} if cell.claim is None else {"claim": cell.claim == Truth.HOLDS.value},
    )


def write(report: CheckReport, where: Path, records: Mapping[str, Record], place: str | None = None) -> Path:
    """
    Put a report into the file of its environment in the folder `where`, and return its path.

    The file is written whole or not at all, sorted, without times. What it holds of other records stays; what it holds
    of these on other targets stays where the repro is the same. Another machine (instruction set, compiler, GPU) than
    that of the file gets a part of its own in it.
    """
    rows = {found.id: row(records[found.id], found) for found in report.results if found.id in records}
    return merge(Measurement(environment=report.environment, rows=rows, place=place), where)


def merge(new: Measurement, where: Path) -> Path:
    """Put one measurement into the file of its environment in the folder `where`, and return its path; see `write`."""
    path = where / f"{new.environment.slug}.json"
    parts = [part for part in (load(path) if path.is_file() else ()) if part.failed is None]
    for i, part in enumerate(parts):
        if _same_machine(part, new):
            rows = {**part.rows, **{id: _joined(part.rows.get(id), row) for id, row in new.rows.items()}}
            parts[i] = replace(new, rows=rows)
            break
    else:
        parts.append(new)
    save(path, parts)
    return path


def _joined(old: Row | None, new: Row) -> Row:
    if old is None or old.digest != new.digest:
        return new
    return replace(new, targets={**old.targets, **new.targets}, beside={**old.beside, **new.beside})


def _same_machine(a: Measurement, b: Measurement) -> bool:
    """Tell whether two measurements were made alike; the number of threads and what is missing do not count."""
    alike = [replace(m.environment, threads=1, missing={}, scrubbed=(), gpu=None) for m in (a, b)]
    return alike[0] == alike[1] and a.place == b.place


def save(path: Path, parts: list[Measurement]) -> None:
    """Write the measurements of one file, whole or not at all; the first is that of the file itself."""
    raw: dict[str, Any] = {"schema": SCHEMA, "compilefix": __version__, **parts[0].to_json()}
    if parts[1:]:
        raw["machines"] = [part.to_json() for part in parts[1:]]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(raw, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    temporary.replace(path)


def target_names(row: Row) -> frozenset[Target]:
    """Return all targets of a row."""
    return frozenset(Target.parse(name) for name in (*row.targets, *row.beside))
