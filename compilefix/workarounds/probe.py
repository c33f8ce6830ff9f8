"""Measure this torch build once: which records' programs misbehave, and which strategy of each op is right."""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compilefix import environment, gate, ops, runner
from compilefix.issue import Issue, Symptom
from compilefix.ops.drop_in import PLAIN
from compilefix.outcome import REFERENCE, Did, Result, Verdict
from compilefix.registry import Record
from compilefix.runner.session import Watcher
from compilefix.workarounds import hostile

REPRO = '''"""{op} by {strategy}: {pattern}."""

from compilefix.issue import Issue, Symptom
from compilefix.workarounds import hostile

ISSUE = Issue(symptom=Symptom.{symptom}, stage="inductor")
inputs, program = hostile.case({op!r}, {strategy!r}, {pattern!r})
'''
REFUSED = "the plain program raises"
"""How the runner begins the reason of a reference that cannot be had."""

Table = dict[str, dict[str, dict[str, list[str]]]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure and how."""

    names: tuple[str, ...]
    """Ops."""

    options: runner.Options
    complete: bool = False
    """Put every strategy to every pattern, and do not stop at the first right one or the first wrong pattern."""

    isolation: str | None = None
    cache: Path | None = None


@dataclass
class _Op:
    """One op on its way through a probe."""

    name: str
    patterns: tuple[str, ...]
    left: list[str]
    """Strategies still to be measured, the cheapest first."""

    wrong: dict[str, dict[str, list[str]]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What a probe found before it ended."""

    table: Table
    doubts: tuple[str, ...]
    """What could not be told, in words."""

    interrupted: bool = False
    """Ended early; `table` has the ops that were done by then."""


def measure_ops(plan: Plan, watcher: Watcher) -> Probed:
    """
    Measure the strategies of ops: which patterns come out wrong.

    Unless `Plan.complete`, strategies are tried from the cheapest on until one is right, and a strategy that fails
    one of the first patterns is not put to the rest; `PLAIN` and that first right one are always complete.
    """
    todo = []
    for name in plan.names:
        spec = ops.spec(name)
        todo.append(_Op(name, hostile.patterns(spec), list(spec.strategies)))
    doubts: list[str] = []
    try:
        while any(op.left for op in todo):
            doubts += _round(plan, watcher, [op for op in todo if op.left])
    except KeyboardInterrupt:
        return Probed(table={op.name: op.wrong for op in todo if not op.left}, doubts=tuple(doubts), interrupted=True)
    return Probed(table={op.name: op.wrong for op in todo}, doubts=tuple(doubts))


def hold(name: str, strategy: str, plan: Plan, watcher: Watcher) -> dict[str, list[str]]:
    """Put one strategy to every pattern of its op; return the patterns that came out wrong, by target."""
    op = _Op(name, hostile.patterns(ops.spec(name)), [])
    _run(plan, watcher, [(op, strategy, pattern) for pattern in op.patterns])
    return op.wrong.get(strategy, {})


def _round(plan: Plan, watcher: Watcher, todo: Sequence[_Op]) -> list[str]:
    """Measure the next strategy of every op (all of them in a complete probe); return what could not be told."""
    turn = [(op, op.left[:] if plan.complete else op.left[:1]) for op in todo]
    sieve = len(hostile.FUNCTIONAL) if plan.complete else hostile.FIRST
    first = [(op, s, p) for op, strategies in turn for s in strategies for p in op.patterns[:sieve]]
    doubts = _run(plan, watcher, first)
    rest = [
        (op, s, p)
        for op, strategies in turn
        for s in strategies
        if not any(op.wrong.get(s, {}).values())
        for p in op.patterns[sieve:]
    ]
    doubts += _run(plan, watcher, rest)
    for op, strategies in turn:
        del op.left[: len(strategies)]
        right = [s for s in strategies if op.wrong.get(s) and not any(op.wrong[s].values())]
        enough = PLAIN not in right or not ops.choice(op.name).decision.on  # a record may show in no pattern
        if right and enough and not plan.complete:
            op.left.clear()
    return doubts


def _run(plan: Plan, watcher: Watcher, cases: Sequence[tuple[_Op, str, str]]) -> list[str]:
    if not cases:
        return []
    doubts: list[str] = []
    with tempfile.TemporaryDirectory(prefix="compilefix-probe-") as folder:
        records = {}
        for op, strategy, pattern in cases:
            record = _record(Path(folder), op.name, strategy, pattern)
            records[record.id] = (op, strategy, pattern, record)
        report = runner.check(
            [r for *_, r in records.values()],
            watcher=watcher,
            options=replace(plan.options, workarounds=False),
            isolation=plan.isolation,
            cache=plan.cache,
            journal=Path(folder) / "journal",
        )
        if report.interrupted:
            raise KeyboardInterrupt
        for result in report.results:
            op, strategy, pattern, _ = records[result.id]
            doubts += _take(op, strategy, pattern, result)
    return doubts


def _take(op: _Op, strategy: str, pattern: str, result: Result) -> Iterator[str]:
    wrong = op.wrong.setdefault(strategy, {})
    if any((o.reason or "").startswith(REFUSED) for t, o in result.outcomes.items() if t.backend == REFERENCE):
        return  # upstream itself refuses this pattern for this op, so there is nothing that a strategy must keep
    for target, outcome in result.outcomes.items():
        if target.backend == REFERENCE or outcome.did is Did.UNSUPPORTED:
            continue
        if outcome.did is Did.UNRESOLVED:
            yield f"{op.name} by {strategy}, {pattern}, {target}: {outcome.reason}"
            wrong.setdefault(str(target), []).append(f"{pattern} (unresolved)")
            continue
        names = wrong.setdefault(str(target), [])
        if outcome.did.bad:
            names.append(pattern)


def _record(folder: Path, op: str, strategy: str, pattern: str) -> Record:
    id = f"{op} {strategy} {pattern}"
    path = folder / f"{id.replace(' ', '__').replace('-', '_')}.py"
    symptom = Symptom.MISSING_ERROR if pattern == hostile.at_edge.__name__ else Symptom.WRONG_RESULT
    text = REPRO.format(op=op, strategy=strategy, pattern=pattern, symptom=symptom.name)
    path.write_text(text, encoding="utf-8")
    known = Issue(symptom=symptom, stage="inductor", ops=(op,))
    return Record(id, path, 1, f"{op} by {strategy}: {pattern}", "", "", known, ("program", "inputs"))


def measure_records(records: Sequence[Record], plan: Plan, watcher: Watcher) -> dict[str, bool]:
    """Return which records' programs misbehave on this build; those that could not be told are left out."""
    with tempfile.TemporaryDirectory(prefix="compilefix-probe-") as folder:
        report = runner.check(
            records,
            watcher=watcher,
            options=replace(plan.options, targets=(), workarounds=False),
            isolation=plan.isolation,
            cache=plan.cache,
            journal=Path(folder),
        )
    if report.interrupted:
        raise KeyboardInterrupt
    bad = {Verdict.REPRODUCES: True, Verdict.REGRESSED: True, Verdict.CLEAR: False, Verdict.FIXED_EARLY: False}
    return {r.id: bad[r.verdict] for r in report.results if r.verdict in bad}


def save(records: dict[str, bool], table: Table) -> Path:
    """Keep what was measured for this build; ops and gates read it from then on. Returns the file."""
    build = environment.build()
    path = gate.probe_path(build)
    before = gate.read_probe(path)
    raw = _document(build) | {"records": {**before.records, **records}, "ops": {**before.ops, **table}}
    _write(path, raw)
    gate.forget_here()
    return path


def ship(table: Table, where: Path) -> Path:
    """Write the table of this build into the folder `where`, sorted, and return its file; other ops in it stay."""
    build = environment.build()
    path = where / f"torch-{build['torch']}.json"
    before = gate.read_probe(path)
    _write(path, _document(build) | {"records": {}, "ops": {**before.ops, **table}})
    return path


def _document(build: dict[str, Any]) -> dict[str, Any]:
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"schema": gate.SCHEMA, "recorded": today, "build": build}


def _write(path: Path, raw: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(raw, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    temporary.replace(path)
