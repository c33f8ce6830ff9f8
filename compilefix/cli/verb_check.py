"""``compilefix check``: run the registry on the installed torch."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compilefix import config, measured
from compilefix.check import FAIL_ON, CheckReport
from compilefix.cli import options
from compilefix.cli.manual import CACHE, CONFIG, HARNESS, INTERRUPTED, JOURNAL, RECORDS, USAGE, Manual
from compilefix.cuda_interpreted import gpus, orders
from compilefix.errors import UsageError
from compilefix.outcome import BACKENDS, INTERPRETED, TARGET_DEVICES, Target
from compilefix.progress import progress
from compilefix.registry import Record
from compilefix.report import check as report

HELP = "run the known defects on the installed torch and say which of them are present"
DEFAULTS: dict[str, Any] = {"timeout": 60.0, "seed": 0, "memory": "4GiB", "fail_on": "contradiction", "format": "table"}
DEFAULTS |= {"gpu": gpus.DEFAULT, "grid": "forward"}
MANUAL = Manual(
    description="""
Every record is a program. It runs plainly, twice and in float64, and then compiled, stage by stage, each run in a
process of its own; results, gradients, writes and exceptions are compared element by element. A row of the report
is a record, a column a stage; the leftmost bad cell is where it goes wrong, and the verdict holds it against what
the record says.

The first check on a machine compiles C++ for a minute or two; later ones take seconds. No GPU is needed: the target
inductor:cuda-interpreted runs Inductor's CUDA kernels on the CPU.""",
    examples=(
        ("compilefix check", "every record on the torch in front of you"),
        ("compilefix check gh198094 --format markdown", "one record, ready to paste into a report"),
        (
            "compilefix check --select symptom:wrong-gradient --target inductor:cpu --dynamic",
            "wrong gradients only, the last stage only, with static and with dynamic shapes",
        ),
        ("compilefix check --shard 1/2 --format json -o part-1.json", "the first half; `merge` joins the halves"),
    ),
    exits={
        0: "every record says what this torch does",
        1: "this torch contradicts a record; with --fail-on reproduces: or has a defect",
        2: USAGE,
        3: f"{HARNESS}, or a record cannot be read",
        4: "some record could not be judged",
        130: f"{INTERRUPTED}; what was measured is reported, and --resume goes on",
    },
    reads=(RECORDS, CONFIG),
    writes=(CACHE, JOURNAL, "DIR/<environment>.json, with --record DIR"),
    settings=(
        "timeout",
        "jobs",
        "seed",
        "memory",
        "fail_on",
        "format",
        "isolation",
        "cache_dir",
        "gpu",
        "grid",
        "repros",
    ),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``check``."""
    options.add_selection(parser)
    run = parser.add_argument_group("running")
    run.add_argument(
        "--target", action="append", metavar="T", help="BACKEND[:DEVICE][:dynamic] (repeatable; default: every stage)"
    )
    run.add_argument("--device", choices=TARGET_DEVICES, help="only targets of this device (default: all there are)")
    run.add_argument("--gpu", metavar="NAME", help="GPU that inductor:cuda-interpreted compiles for (default: h100)")
    run.add_argument(
        "--grid",
        metavar="ORDER",
        help="order of the programs of an interpreted kernel: forward (default), reverse, shuffle[:SEED]",
    )
    run.add_argument("--dynamic", action="store_true", help="add a :dynamic twin to every target")
    run.add_argument("--jobs", type=int, metavar="N", help="workers side by side (default: cores)")
    run.add_argument("--timeout", type=float, metavar="S", help="seconds for one run, then it is a hang (default: 60)")
    run.add_argument("--memory", metavar="SIZE", help="private memory of one worker, or none (default: 4GiB)")
    run.add_argument("--seed", type=int, metavar="N", help="seed of every run (default: 0)")
    run.add_argument(
        "--shard", metavar="I/N", help="run the I-th of N parts; join the reports with `merge` (default: all)"
    )
    run.add_argument("--resume", action="store_true", help="take over what an interrupted check has measured")
    options.add_isolation(run)
    run.add_argument(
        "--workarounds",
        action="store_true",
        help="put every kind of workaround to the proof and say what it costs (slower)",
    )
    run.add_argument("--no-workarounds", action="store_true", help="do not run the workarounds")
    run.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="hand the records to the workers of a Dask scheduler, all with this torch (default: this machine)",
    )
    options.add_output(parser, list(report.FORMATS), DEFAULTS["format"])
    after = parser.add_argument_group("afterwards")
    after.add_argument("--fail-on", choices=FAIL_ON, help="what makes the exit code 1 (default: contradiction)")
    after.add_argument(
        "--record", metavar="DIR", help="also write the measured file of this environment into DIR (default: none)"
    )


def run(args: argparse.Namespace) -> int:
    """Run ``check``."""
    from compilefix import runner

    chosen = DEFAULTS | {"jobs": options.cores()}
    chosen |= options.settings(args)
    _validate(chosen)
    options.check_writable(args.output)
    found = options.registry(chosen)
    records = options.selected(found, chosen)
    if args.record and (args.shard or len(records) != len(found.records) or args.target or args.device):
        raise UsageError("--record writes the whole file of an environment; use it without a selection")
    if args.shard:
        part, parts = options.shard(args.shard)
        records = records[part - 1 :: parts]
    if args.cluster:
        return _finish(args, chosen, _on_cluster(args, chosen, records, [str(error) for error in found.broken]))
    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with progress(sys.stderr, lambda: _interruptible(cancelled)) as watcher:
        result = runner.check(
            records,
            watcher=watcher,
            options=runner.Options(
                targets=_targets(args),
                dynamic=args.dynamic,
                jobs=chosen["jobs"],
                timeout=float(chosen["timeout"]),
                seed=chosen["seed"],
                grid=str(orders.parse(chosen["grid"])),
                memory=options.size(chosen["memory"]),
                workarounds=not args.no_workarounds,
                kinds=_kinds(args),
            ),
            broken=[str(error) for error in found.broken],
            isolation=chosen.get("isolation"),
            cache=Path(chosen["cache_dir"]) if "cache_dir" in chosen else None,
            gpu=chosen["gpu"].lower(),
            resume=args.resume,
            cancelled=cancelled,
        )
    return _finish(args, chosen, result, {r.id: r for r in records})


def _finish(
    args: argparse.Namespace, chosen: dict[str, Any], result: CheckReport, records: Mapping[str, Record] | None = None
) -> int:
    """Write the report, and the measured file where one was asked for; return the exit code."""
    text = report.render(
        chosen["format"],
        result,
        width=options.width(args.output),
        color=options.colored(args.color, args.output),
    )
    options.emit(text, args.output)
    if args.record and not result.interrupted:
        path = measured.write(result, Path(args.record), records or {})
        print(f"compilefix: wrote {path}", file=sys.stderr)
    if result.interrupted:
        print("compilefix: interrupted; the same command with --resume continues", file=sys.stderr)
    return int(result.exit_code(chosen["fail_on"]))


def _on_cluster(
    args: argparse.Namespace, chosen: dict[str, Any], records: Sequence[Record], broken: Sequence[str]
) -> CheckReport:
    """Let the workers of a cluster run the records."""
    here = {"workarounds": args.workarounds, "record": args.record, "resume": args.resume, "shard": args.shard}
    for name, given in (here | {"isolation": args.isolation}).items():
        if given:
            raise UsageError(f"--cluster does not go with --{name}")
    from compilefix.upgrade import checking, executors
    from compilefix.upgrade.unit import Settings

    settings = Settings(
        jobs=chosen["jobs"],
        timeout=float(chosen["timeout"]),
        seed=chosen["seed"],
        memory=chosen["memory"],
        gpu=chosen["gpu"].lower(),
        grid=str(orders.parse(chosen["grid"])),
        repros=tuple(str(Path(folder).resolve()) for folder in chosen.get("repros", ())),
        cache=str(Path(chosen["cache_dir"]).resolve()) if "cache_dir" in chosen else None,
        targets=tuple(map(str, _targets(args))),
        dynamic=args.dynamic,
        workarounds=not args.no_workarounds,
    )
    with executors.cluster(args.cluster) as executor:
        whole = checking.check(
            records,
            executor,
            announce=lambda text: print(f"compilefix: {text}", file=sys.stderr, flush=True),
            settings=settings,
            device="cuda" if args.device == "cuda" else "cpu",
        )
    return replace(whole, broken=(*whole.broken, *broken))


def _validate(chosen: dict[str, Any]) -> None:
    if chosen["jobs"] < 1:
        raise UsageError(f"--jobs {chosen['jobs']} must be at least 1")
    gpus.gpu(chosen["gpu"])
    orders.parse(chosen["grid"])
    if chosen["timeout"] <= 0:
        raise UsageError(f"--timeout {chosen['timeout']:g} must be more than 0 seconds")
    choices = {"fail_on": FAIL_ON, "format": tuple(report.FORMATS), "isolation": config.ISOLATION}
    for name, allowed in choices.items():
        if name in chosen and chosen[name] not in allowed:
            raise UsageError(f"{name} {chosen[name]!r} is not one of {', '.join(allowed)}")


def _kinds(args: argparse.Namespace) -> Any:
    """Return what names the workarounds of a record; imports torch only where they are asked for."""
    if not args.workarounds:
        return None
    if args.no_workarounds or args.resume or args.record:
        raise UsageError("--workarounds does not go with --no-workarounds, --resume or --record")
    from compilefix.workarounds import proof

    return proof.provable


def _targets(args: argparse.Namespace) -> tuple[Target, ...]:
    targets = tuple(Target.parse(text) for text in args.target or ())
    if args.device == INTERPRETED:
        targets = targets or (Target("inductor", INTERPRETED),)
    if args.device:
        if targets and not any(t.device == args.device for t in targets):
            raise UsageError(f"the selection is empty: no --target is on {args.device}")
        targets = tuple(t for t in targets if t.device == args.device)
        targets = targets or tuple(Target(backend, args.device) for backend in BACKENDS[1:])
    return targets


def _interruptible(cancelled: threading.Event) -> None:
    """From the first run on, let a SIGINT or SIGTERM end the check with a report, and a second one the process."""

    def stop(number: int, frame: object) -> None:
        if cancelled.is_set():
            raise KeyboardInterrupt
        cancelled.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
