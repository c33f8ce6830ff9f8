"""``compilefix measure``: run the registry on other releases of torch, and keep what came out."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from compilefix import measured
from compilefix.cli import options
from compilefix.cli.manual import CACHE, CONFIG, ENVIRONMENTS, HARNESS, INTERRUPTED, MEASURED, RECORDS, USAGE, Manual
from compilefix.cuda_interpreted import gpus
from compilefix.errors import Exit, UsageError
from compilefix.issue import DEVICES

HELP = "run the known defects on other torch releases and write the measured files; imports no torch"
DEFAULTS: dict[str, Any] = {"timeout": 60.0, "seed": 0, "memory": "4GiB", "gpu": gpus.DEFAULT}
MANUAL = Manual(
    description="""
Each release gets an environment of its own, installed once and kept. Records run there as `check` runs them, and
what came out is added to the measured files: `list --matrix`, `explain`, `upgrade` and gates read them. Only what
the files lack is run, so the same command continues what was interrupted.""",
    examples=(
        ("compilefix measure --torch 2.9.1 --torch 2.14.1", "all records that two releases lack"),
        ("compilefix measure --torch 2.14.1 gh198094 --again", "one record anew"),
        ("compilefix measure --installed", "the environments that are installed, with their size"),
        ("compilefix measure --prune --torch 2.9.1", "remove one of them"),
    ),
    exits={
        0: "every record says what was measured",
        1: "a measurement contradicts its record",
        2: USAGE,
        3: f"{HARNESS}, or a record cannot be read",
        130: INTERRUPTED,
    },
    reads=(RECORDS, MEASURED, CONFIG),
    writes=("repros/measured/<environment>.json, or those in --into DIR", ENVIRONMENTS, CACHE),
    settings=("timeout", "jobs", "seed", "memory", "cache_dir", "gpu", "repros", "environments"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``measure``."""
    options.add_selection(parser)
    run = parser.add_argument_group("measuring")
    run.add_argument("--torch", action="append", metavar="RELEASE", help="a release such as 2.9.1 (repeatable)")
    run.add_argument("--into", metavar="DIR", help="folder of the measured files (default: repros/measured)")
    run.add_argument("--again", action="store_true", help="run also what is measured already")
    run.add_argument("--device", action="append", choices=DEVICES, help="repeatable (default: cpu)")
    run.add_argument("--gpu", metavar="NAME", help="GPU that inductor:cuda-interpreted compiles for (default: h100)")
    run.add_argument("--jobs", type=int, metavar="N", help="workers side by side (default: cores)")
    run.add_argument("--timeout", type=float, metavar="S", help="seconds for one run, then it is a hang (default: 60)")
    run.add_argument("--memory", metavar="SIZE", help="private memory of one worker, or none (default: 4GiB)")
    run.add_argument("--seed", type=int, metavar="N", help="seed of every run (default: 0)")
    place = parser.add_argument_group("environments")
    options.add_index(place)
    place.add_argument(
        "--python", metavar="PYTHON", help="Python of new environments, such as 3.11 (default: this one's)"
    )
    place.add_argument("--installed", action="store_true", help="list the installed environments and their size")
    place.add_argument("--prune", action="store_true", help="remove environments: of --torch, or all; measures nothing")
    run.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="where compiled C++ objects are kept, a folder a release (default: ~/.cache/compilefix)",
    )
    run.add_argument("--unit", type=int, metavar="N", help="records that are run, and written, at a time (default: 12)")
    far = parser.add_argument_group("more than one machine")
    far.add_argument(
        "--cluster", metavar="ADDRESS", help="hand the work to the workers of a Dask scheduler (default: this machine)"
    )
    far.add_argument(
        "--on",
        action="append",
        metavar="RESOURCE",
        help="measure on workers with this resource; each one anew (repeatable)",
    )


def run(args: argparse.Namespace) -> int:
    """Run ``measure``."""
    from compilefix.upgrade import environments, installer, measuring
    from compilefix.upgrade.unit import Settings

    chosen = DEFAULTS | {"jobs": options.cores()} | options.settings(args)
    _validate(args, chosen)
    if args.installed:
        return _list()
    if args.prune:
        freed = environments.prune(args.torch, announce=_say)
        print(f"{installer.in_words(freed)} freed")
        return int(Exit.EXPECTED)
    found = options.registry(chosen)
    for error in found.broken:
        _say(str(error))
    records = options.selected(found, chosen)
    settings = Settings(
        jobs=chosen["jobs"],
        timeout=float(chosen["timeout"]),
        seed=chosen["seed"],
        memory=chosen["memory"],
        gpu=chosen["gpu"].lower(),
        repros=tuple(str(Path(folder).resolve()) for folder in chosen.get("repros", ())),
        cache=str(Path(chosen["cache_dir"]).resolve()) if "cache_dir" in chosen else None,
        index_url=args.index_url,
        python=args.python,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _executor(args.cluster) as executor:
        done = measuring.measure(
            records,
            args.torch,
            Path(args.into) if args.into else measured.folder(),
            announce=_say,
            settings=settings,
            devices=tuple(dict.fromkeys(args.device or ("cpu",))),
            places=tuple(dict.fromkeys(args.on or (None,))),
            again=args.again,
            size=args.unit or measuring.SHARD,
            executor=executor,
        )
    for torch, result in done.contradictions:
        print(measuring.contradiction(result, torch))
    for release, reason in done.failed.items():
        print(f"torch {release} {reason}")
    for path in done.files:
        print(f"wrote {path}")
    print(f"{done.ran} measured, {done.kept} measured before, {len(done.contradictions)} contradict their record")
    if found.broken:
        return int(Exit.HARNESS)
    return int(Exit.FINDINGS if done.contradictions else Exit.EXPECTED)


def _validate(args: argparse.Namespace, chosen: dict[str, Any]) -> None:
    from compilefix.upgrade import environments

    if not args.torch and not args.prune and not args.installed:
        raise UsageError("name at least one release: compilefix measure --torch 2.9.1")
    for release in args.torch or ():
        environments.public(release)
    environments.adopted(chosen)
    if chosen["jobs"] < 1:
        raise UsageError(f"--jobs {chosen['jobs']} must be at least 1")
    if chosen["timeout"] <= 0:
        raise UsageError(f"--timeout {chosen['timeout']:g} must be more than 0 seconds")
    options.size(chosen["memory"])
    gpus.gpu(chosen["gpu"])
    if args.unit is not None and args.unit < 1:
        raise UsageError(f"--unit {args.unit} must be at least 1")
    if args.on and not args.cluster:
        raise UsageError("--on names resources of a cluster's workers; it needs --cluster")
    if args.into and not Path(args.into).is_dir():
        raise UsageError(f"no such folder: {args.into}")


@contextlib.contextmanager
def _executor(address: str | None) -> Iterator[Callable[[tuple[str, str | None]], Executor] | None]:
    from compilefix.upgrade import executors

    if address is None:
        yield None
        return
    with executors.cluster(address) as found:
        yield found


def _list() -> int:
    from compilefix.upgrade import environments, installer

    found = environments.installed()
    for one in found:
        print(f"{one.torch}  Python {one.python_version}  {installer.in_words(one.size)}  {one.python}")
    for release, python in environments.adopted().items():
        print(f"{release}  named by you  {python}")
    print(f"{installer.in_words(sum(one.size for one in found))} in {environments.root()}")
    return int(Exit.EXPECTED)


def _say(text: str) -> None:
    print(f"compilefix: {text}", file=sys.stderr, flush=True)
