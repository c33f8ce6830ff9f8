"""``compilefix probe``: measure this torch build once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from compilefix import environment
from compilefix.cli import options
from compilefix.cli.manual import CACHE, CONFIG, INTERRUPTED, RECORDS, USAGE, Manual
from compilefix.errors import Exit, UsageError
from compilefix.outcome import Target
from compilefix.progress import progress

HELP = "measure this torch build once: which workarounds and which strategies of the drop-in ops it needs"
DEFAULTS: dict[str, Any] = {"timeout": 60.0, "seed": 0, "memory": "4GiB"}
MANUAL = Manual(
    description="""
Runs the strategies of the drop-in ops on hostile patterns, cheapest first, and the records that have a workaround,
and keeps what came out: from then on ops and gates on this build take this word instead of the record's range of
releases. Without OP: every drop-in op, and every record.""",
    examples=(
        ("compilefix probe", "all ops and all records"),
        ("compilefix probe slice_scatter index_add", "two ops"),
        ("compilefix probe slice_scatter --complete --jobs 2", "every strategy on every pattern"),
    ),
    exits={
        0: "measured",
        2: USAGE,
        3: "torch does not import, or the harness failed",
        4: "some op could not be judged; the others are kept",
        130: f"{INTERRUPTED}; whole ops are kept",
    },
    reads=(RECORDS, CONFIG),
    writes=(
        "~/.cache/compilefix/probe: one file a build of torch",
        CACHE,
        "DIR/torch-<version>.json, with --record DIR",
    ),
    settings=("timeout", "jobs", "seed", "memory", "cache_dir"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``probe``."""
    parser.add_argument("ops", nargs="*", metavar="OP", help="only these drop-in ops")
    run = parser.add_argument_group("running")
    run.add_argument(
        "--target",
        action="append",
        metavar="T",
        help="BACKEND[:DEVICE][:dynamic] (repeatable; default: inductor:cpu)",
    )
    run.add_argument("--complete", action="store_true", help="every strategy on every pattern (slow)")
    run.add_argument("--jobs", type=int, metavar="N", help="workers side by side (default: cores)")
    run.add_argument("--timeout", type=float, metavar="S", help="seconds for one run (default: 60)")
    options.add_cache(run)
    out = parser.add_argument_group("output")
    out.add_argument("--record", metavar="DIR", help="also write the table of the ops into DIR (default: none)")


def run(args: argparse.Namespace) -> int:
    """Run ``probe``."""
    environment.require_torch()
    from compilefix import ops, registry, runner
    from compilefix.workarounds import probe

    chosen = DEFAULTS | {"jobs": options.cores()}
    chosen |= options.settings(args)
    names = tuple(ops.spec(name).name for name in args.ops) or ops.names()
    plan = probe.Plan(
        names=names,
        options=runner.Options(
            targets=tuple(map(Target.parse, args.target or ["inductor:cpu"])),
            jobs=chosen["jobs"],
            timeout=float(chosen["timeout"]),
            seed=chosen["seed"],
            memory=options.size(chosen["memory"]),
        ),
        complete=args.complete,
        cache=Path(chosen["cache_dir"]) if "cache_dir" in chosen else None,
    )
    if chosen["jobs"] < 1:
        raise UsageError(f"--jobs {chosen['jobs']} must be at least 1")
    records: dict[str, bool] = {}
    with progress(sys.stderr, lambda: None, each=False) as watcher:
        found = probe.measure_ops(plan, watcher)
        if not args.ops and not found.interrupted:
            records = probe.measure_records(
                [r for r in registry.discover().records if r.kind == "issue"], plan, watcher
            )
    print(f"compilefix: wrote {probe.save(records, found.table)}", file=sys.stderr)
    if args.record:
        print(f"compilefix: wrote {probe.ship(found.table, Path(args.record))}", file=sys.stderr)
    for doubt in found.doubts:
        print(f"compilefix: could not tell: {doubt}", file=sys.stderr)
    for name in found.table:
        print(f"{name}: {ops.choice(name).strategy}")
    if found.interrupted:
        return int(Exit.INTERRUPTED)
    return int(Exit.INCONCLUSIVE if found.doubts else Exit.EXPECTED)
