"""Which of the user's own lines an upgrade concerns: calls, version gates, links, workarounds and drop-in ops."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from compilefix.asked import requests
from compilefix.registry import Record
from compilefix.scan import Finding, scan
from compilefix.upgrade.difference import UNTESTED, Change, Line, Row

_OPS = Path(__file__).parents[1] / "ops"


def lines(
    paths: Sequence[Path],
    rows: Iterable[Row],
    records: Sequence[Record],
    before: str,
    after: str,
    *,
    jobs: int = 1,
) -> tuple[tuple[Line, ...], int, tuple[str, ...]]:
    """
    Return the lines under `paths` that the upgrade concerns, how many files were read, and what could not be.

    A gate counts as dead where every release from `after` on decides it alike and not every one from `before` on.
    Nothing is executed and torch is not imported. Raises `UsageError` for a path that does not exist.
    """
    by_id = {row.id: row for row in rows}
    known = {record.id: record for record in records}
    report = scan(paths, minimum=Version(after), maximum=None, records=records, jobs=jobs)
    found: list[Line] = []
    for finding in report.findings:
        match finding.kind:
            case "call":
                found += _call(finding, by_id, known)
            case "gate":
                found += _gate(finding, Version(before), Version(after))
            case "link":
                found += _link(finding, by_id, after)
    for subject, places in requests(paths).items():
        found += _asked(subject, places, by_id, before, after)
    order = {"concerned": 0, "needed": 1, "other branch": 2, "dead": 3, UNTESTED: 4}
    unique = dict.fromkeys(sorted(found, key=lambda line: (order[line.verdict], line.file, line.line, line.kind)))
    return tuple(unique), report.files, report.broken


def _call(finding: Finding, rows: Mapping[str, Row], known: Mapping[str, Record]) -> Iterator[Line]:
    if finding.inside == "no":
        return  # plain code is right
    own = [rows[id] for id in finding.records if id in rows and _of_interest(rows[id])]
    hit = [row for row in own if row.after.state == "bad" or row.change is Change.CHANGES]
    open_ = [row for row in own if row.change is Change.UNTESTED and row.after.state == UNTESTED]
    for verdict, those in (("concerned", hit), (UNTESTED, [] if hit else open_)):
        if not those:
            continue
        words = "; ".join(f"{r.id} {r.change.value}: {r.title}" for r in those)
        maybe = ", where it is compiled" if finding.inside == "maybe" else ""
        yield Line(
            file=finding.file,
            line=finding.line,
            kind="call",
            verdict=verdict,
            text=finding.text,
            message=f"{words}{maybe}",
            op=finding.op,
            records=tuple(r.id for r in those),
            edit=finding.edit or _instead(finding.op, [known[r.id] for r in those]),
        )


def _of_interest(row: Row) -> bool:
    """Tell whether lines are held against `row`: a contract says nothing new of them unless something changes."""
    return row.record == "issue" or row.change in (Change.APPEARS, Change.CHANGES)


def _instead(op: str | None, records: Sequence[Record]) -> str | None:
    """Return what to write instead: a drop-in op, a workaround in a scope, or what the record says."""
    name = (op or "").rpartition(".")[2]
    if any(record.id in drop_ins().get(name, ()) for record in records):
        return f"call compilefix.ops.{name}"
    able = next((record for record in records if record.has_workaround and record.kind == "issue"), None)
    if able is not None:
        return f'with compilefix.workaround("{able.id}"): …'
    return next((record.what_to_do for record in records if record.what_to_do), None)


def _gate(finding: Finding, before: Version, after: Version) -> Iterator[Line]:
    if finding.true_for is None:
        return
    ranges = [(Version(low) if low else None, Version(high) if high else None) for low, high in finding.true_for]

    def at(version: Version) -> bool:
        return any((low is None or low <= version) and (high is None or version < high) for low, high in ranges)

    def decided(version: Version) -> bool:
        bounds = [bound for pair in ranges for bound in pair if bound is not None and bound > version]
        return not bounds

    was, now = at(before), at(after)
    if decided(after) and not decided(before):
        verdict, edit = "dead", finding.edit
        message = f"always {str(now).lower()} once {after} is your oldest torch"
        edit = edit or ("keep the guarded code, drop the test" if now else "remove the test and the code it guards")
    elif was is not now:
        verdict, edit, message = "other branch", finding.edit, "decides otherwise"
    else:
        return
    if was is not now:
        message = f"{str(was).lower()} on {before}, {str(now).lower()} on {after}: the other branch runs; {message}"
    yield Line(
        file=finding.file,
        line=finding.line,
        kind="gate",
        verdict=verdict,
        text=finding.text,
        message=message.removesuffix("; decides otherwise") + (f"; {finding.defect}" if finding.defect else ""),
        records=finding.records,
        edit=edit,
    )


def _link(finding: Finding, rows: Mapping[str, Row], after: str) -> Iterator[Line]:
    gone = [rows[id] for id in finding.records if id in rows and rows[id].change is Change.DISAPPEARS]
    if gone and len(gone) == len(finding.records):
        yield Line(
            file=finding.file,
            line=finding.line,
            kind="link",
            verdict="dead",
            text=finding.text,
            message=f"{', '.join(r.id for r in gone)}: {after} does not have it any more ({gone[0].after.by})",
            records=finding.records,
            edit=finding.edit or "remove what this comment is the reason for",
        )


def _asked(subject: str, places: Iterable[str], rows: Mapping[str, Row], before: str, after: str) -> Iterator[Line]:
    kind, _, name = subject.rpartition(" ")
    if kind == "op":
        ids: tuple[str, ...] = drop_ins().get(name, ())
        asked, instead = f"compilefix.ops.{name}", f"torch.{name} in its place"
    else:
        ids, kind = (subject,), "workaround"
        asked, instead = f'compilefix.workaround("{subject}")', "remove it"
    concerned = [rows[id] for id in ids if id in rows]
    if len(concerned) != len(ids) or not ids:
        return
    was, now = (any(getattr(row, side).state != "good" for row in concerned) for side in ("before", "after"))
    if was is now:
        return
    because = [row for row in concerned if (row.after if now else row.before).state != "good"]
    told = ", ".join(f"{row.id} {row.change.value}" for row in because)
    message = f"takes effect on {after}: {told}" if now else f"{after} does not need it: {told}"
    for place in places:
        file, _, line = place.rpartition(":")
        yield Line(
            file=file,
            line=int(line),
            kind=kind,
            verdict="needed" if now else "dead",
            text=asked,
            message=message,
            op=name if kind == "op" else None,
            records=tuple(row.id for row in because),
            edit=None if now else instead,
        )


@functools.cache
def drop_ins() -> Mapping[str, tuple[str, ...]]:
    """Return the drop-in ops and the records that each avoids, read without importing them."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(_OPS.glob("op_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DropIn":
                values = {k.arg: k.value for k in node.keywords}
                found[ast.literal_eval(values["name"])] = ast.literal_eval(values["records"])
    return found
