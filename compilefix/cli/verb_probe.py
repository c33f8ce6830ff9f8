"""``compilefix probe``: measure this torch build once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from compilefix import environment
from compilefix.cli import options
from compilefix.errors import Exit, UsageError
from compilefix.outcome import Target
from compilefix.progress import progress

HELP = "measure this torch build once: which workarounds and which strategies of the drop-in ops it needs"
DEFAULTS: dict[str, Any] = {"timeout": 60.0, "seed": 0, "memory": "4GiB"}
EPILOG = "OPS are names such as slice_scatter; none: every drop-in op, and every record that has a workaround."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``probe``."""
    parser.epilog = EPILOG
    parser.add_argument("ops", nargs="*", metavar="OP", help="only these drop-in ops")
    parser.add_argument("--target", action="append", metavar="T", help="default: inductor:cpu")
    parser.add_argument("--complete", action="store_true", help="every strategy on every pattern (slow)")
    parser.add_argument("--jobs", type=int, metavar="N", help="workers side by side (default: cores)")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds for one run (default: 60)")
    parser.add_argument("--cache-dir", metavar="DIR", help="where compiled C++ objects are kept between runs")
    parser.add_argument("--record", metavar="DIR", help="also write the table of the ops into DIR")


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
