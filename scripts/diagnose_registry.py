"""
Diagnose every recorded defect that this torch has, without letting the diagnosis see the record.

Three shares come out: how often the culprit is the recorded one (exactly, and up to where the line is drawn between a
lowering, its code and a decomposition), how often a workaround cures, and, with the registry back on, how often the
match names the right record. ``--json FILE`` keeps one line a record; a run that is started again continues from it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from packaging.version import Version

from compilefix import registry
from compilefix.cuda_interpreted.gpus import DEFAULT
from compilefix.diagnosis import match, session, subject
from compilefix.diagnosis.result import Conclusion, Likeness
from compilefix.issue import Expectation, Issue, Symptom
from compilefix.outcome import INTERPRETED, Target
from compilefix.runner.session import default_cache, default_isolation, open_launcher

SYMPTOMS = {
    *(Symptom.WRONG_RESULT, Symptom.WRONG_GRADIENT, Symptom.WRONG_ALIAS),
    *(Symptom.ERROR, Symptom.MISSING_ERROR, Symptom.CRASH),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", help="records; default: all wrong results, gradients, aliases and errors")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds a record")
    parser.add_argument("--json", type=Path, help="one line a record; done ones are taken over")
    parser.add_argument("--no-cure", action="store_true")
    args = parser.parse_args()
    records = registry.discover().records
    rows = {}
    if args.json and args.json.exists():
        rows = {row["id"]: row for row in map(json.loads, args.json.read_text().splitlines())}
    launcher, _ = open_launcher(default_isolation(), default_cache(), DEFAULT)
    try:
        version = Version(launcher.environment.torch)
        chosen = [r for r in records if wanted(r, args.ids, version)]
        for record in chosen:
            if record.id in rows:
                continue
            row = one(record, records, launcher, args)
            rows[record.id] = row
            print(line(row), flush=True)
            if args.json:
                with args.json.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    finally:
        launcher.close()
    print(summary([rows[r.id] for r in chosen if r.id in rows]))
    return 0


def wanted(record: registry.Record, ids: list[str], version: Version) -> bool:
    if ids:
        return record.id in ids
    known = record.known
    if not isinstance(known, Issue) or known.symptom not in SYMPTOMS or known.disputed:
        return False
    return known.expectation(version) is not Expectation.UNAFFECTED


def one(record: registry.Record, records: Any, launcher: Any, args: argparse.Namespace) -> dict[str, Any]:
    start = time.monotonic()
    interpreted = "cpu" not in record.known.devices
    options = session.Options(
        jobs=args.jobs,
        budget=args.budget,
        minimise=False,
        cure=not args.no_cure,
        targets=(Target("inductor", INTERPRETED),) if interpreted else (),
    )
    row: dict[str, Any] = {"id": record.id, "recorded": f"{record.known.stage}/{record.known.culprit or '?'}"}
    try:
        found = session.run(lambda folder: subject.build(record.id, folder), options, launcher=launcher)
    except Exception as error:
        return row | {"conclusion": "failed", "why": f"{type(error).__name__}: {error}"}
    row |= {"conclusion": found.conclusion.value, "why": found.reason, "seconds": round(time.monotonic() - start, 1)}
    if found.conclusion is not Conclusion.DEFECT or found.target is None:
        return row
    bad = found.ladder[found.target]
    with tempfile.TemporaryDirectory() as folder:
        ops = match.ops_of(bad, subject.build(record.id, Path(folder)))
    matches = match.matches(records, bad, found.target, found.culprits, launcher.environment, ops)
    apart = match.matches(records, bad, found.target, found.culprits, launcher.environment, ops, alike=False)
    keys = [c.key for c in found.culprits]
    recorded = record.known.culprit
    return row | {
        "found": [c.triple for c in found.culprits],
        "stage": found.target.backend == record.known.stage,
        "exact": recorded in keys,
        "near": recorded in keys or any(near(recorded, c) for c in found.culprits),
        "localised": record.known.culprit is not None,
        "cure": found.recommended.cure.what if found.recommended else None,
        "narrow": any(t.width < 5 for t in found.cures),
        "matches": [[m.id, m.likeness.value, m.score] for m in matches],
        "first": bool(matches) and matches[0].id == record.id,
        "first_apart": bool(apart) and apart[0].id == record.id,
        "listed": record.id in [m.id for m in matches],
        "same": any(m.id == record.id and m.likeness is Likeness.SAME for m in matches),
        "probes": len(found.steps),
    }


def near(recorded: str | None, culprit: Any) -> bool:
    """The same op, or a subsystem outside of the families that `match` knows, of which a part is named."""
    if recorded is None:
        return False
    subsystem = recorded.partition("/")[0]
    alone = not any(subsystem in family for family in match.NEAR)
    return match.near(recorded, culprit) or (alone and subsystem == culprit.subsystem)


def line(row: dict[str, Any]) -> str:
    marks = "".join(c if row.get(k) else "-" for k, c in (("exact", "E"), ("near", "N"), ("cure", "C"), ("first", "M")))
    told = ", ".join(row.get("found", ())) or row.get("why") or ""
    return f"{marks} {row['id']:10} {row['conclusion']:10} {row['recorded']} | {told[:150]} | {row.get('seconds')} s"


def summary(rows: list[dict[str, Any]]) -> str:
    defects = [r for r in rows if r["conclusion"] == Conclusion.DEFECT.value]
    localised = [r for r in defects if r["localised"]]

    def share(key: str, of: list[dict[str, Any]]) -> str:
        n = sum(bool(r[key]) for r in of)
        return f"{n}/{len(of)} ({100 * n / max(len(of), 1):.0f} %)"

    lines = [
        f"{len(defects)} of {len(rows)} records reproduce here",
        f"stage as recorded      {share('stage', defects)}",
        f"culprit as recorded    {share('exact', localised)} of those that record one",
        f"culprit nearby         {share('near', localised)}",
        f"a workaround cures     {share('cure', defects)}",
        f"a narrow one cures     {share('narrow', defects)}",
        f"match names it first   {share('first', defects)}",
        f"  without looking at how alike the programs are: {share('first_apart', defects)}",
        f"match names it at all  {share('listed', defects)}",
        f"seconds a record       {sum(r['seconds'] for r in defects) / max(len(defects), 1):.1f}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
