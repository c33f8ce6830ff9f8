"""``compilefix upgrade``: what changes from one torch release to another, by measurement; imports no torch."""

from __future__ import annotations

import argparse
import functools
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from compilefix.cli import options
from compilefix.cli.manual import CONFIG, ENVIRONMENTS, INTERRUPTED, MEASURED, RECORDS, USAGE, Manual
from compilefix.errors import Exit, UsageError
from compilefix.outcome import TARGET_DEVICES
from compilefix.report import upgrade as formats

HELP = "what changes from one torch release to another: known defects, your lines, your own command"
TAKES_COMMAND = True
MANUAL = Manual(
    description="""
Says which known defects appear, stay and go between two releases, by measurement; what was measured on one of them
only is untested, never unchanged. With PATHs it names the lines of yours that are concerned. Neither release has to
be installed.

Behind -- stands a command of yours, such as a test run: it runs on both releases, each in an environment of its
own, and its failures are told apart by root cause: regressed, fixed, failing on both, new.""",
    examples=(
        ("compilefix upgrade --from 2.9.1 --to 2.14.1", "what appears, stays and goes"),
        ("compilefix upgrade --from 2.9.1 --to 2.14.1 src", "and which of your lines it concerns"),
        ("compilefix upgrade --from 2.9.1 --to 2.14.1 -- pytest tests", "your own tests on both"),
    ),
    exits={
        0: "no defect appears and no line is concerned; a command does the same on both",
        1: "a defect appears or a line is concerned; a command regresses or fails anew",
        2: USAGE,
        3: "a record or a source cannot be read",
        4: "a command gives no baseline, or the new release could not be judged",
        130: INTERRUPTED,
    },
    reads=(MEASURED, RECORDS, "*.py below PATH: read, not executed", CONFIG),
    writes=(f"with a command: {ENVIRONMENTS}",),
    settings=("repros", "environments"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``upgrade``."""
    parser.usage = "compilefix upgrade --from A --to B [options] [PATH ...] | -- COMMAND ..."
    which = parser.add_argument_group("releases")
    which.add_argument("--from", dest="before", required=True, metavar="A", help="release you have, such as 2.9.1")
    which.add_argument("--to", dest="after", required=True, metavar="B", help="release you want")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="your sources: which of their lines are concerned")
    group = parser.add_argument_group("selection")
    group.add_argument("--device", choices=TARGET_DEVICES, help="only defects on this device (default: any)")
    group.add_argument(
        "--target", metavar="T", help="only what was measured on BACKEND[:DEVICE][:dynamic] (default: any)"
    )
    options.add_repros(group)
    command = parser.add_argument_group("running your own command on both releases, behind --")
    add_environment(command)
    options.add_index(command)
    command.add_argument(
        "--timeout", type=float, metavar="S", help="seconds on one release, then it hangs (default: none)"
    )
    options.add_output(parser, list(formats.FORMATS), "table")


def add_environment(group: argparse._ArgumentGroup) -> None:
    """Add what the environments of a command get besides torch."""
    group.add_argument(
        "--with", dest="packages", action="append", metavar="PKG", help="also install PKG (repeatable; default: none)"
    )
    group.add_argument(
        "--requirements",
        action="append",
        metavar="FILE",
        help="also install what FILE lists (repeatable; default: none)",
    )


def run(args: argparse.Namespace) -> int:
    """Run ``upgrade``."""
    chosen = options.settings(args)
    options.check_writable(args.output)
    if args.command:
        return _command(args, chosen)
    if args.packages or args.requirements or args.timeout or args.index_url:
        raise UsageError("--with, --requirements, --index-url and --timeout go with a command behind --")
    from compilefix.upgrade import reporting

    report = reporting.report(
        args.before,
        args.after,
        options.registry(chosen),
        [Path(path) for path in args.paths],
        device=args.device,
        target=args.target,
        jobs=options.cores(),
    )
    text = formats.render(
        args.format or "table",
        report,
        width=options.width(args.output),
        color=options.colored(args.color, args.output),
    )
    options.emit(text, args.output)
    return int(report.exit_code())


def _command(args: argparse.Namespace, chosen: dict[str, Any]) -> int:
    from compilefix.report import comparison as rendered
    from compilefix.upgrade import commands, matrix
    from compilefix.upgrade.comparison import Comparison, compare
    from compilefix.upgrade.difference import affects, releases
    from compilefix.upgrade.environments import EnvironmentFailedError
    from compilefix.upgrade.overlay import place

    if args.paths or args.device or args.target:
        raise UsageError("a command behind -- goes with neither PATH nor --device nor --target")
    if args.timeout is not None and args.timeout <= 0:
        raise UsageError(f"--timeout {args.timeout:g} must be more than 0 seconds")
    before, after = releases(args.before, args.after)
    found = options.registry(chosen)
    wanted = (args.packages or (), [Path(file) for file in args.requirements or ()])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the command's processes end with this one
    commit = head()
    runs = []
    for release in (before, after):
        try:
            at = place(release, *wanted, announce=announce, index_url=args.index_url)
        except EnvironmentFailedError as error:
            runs.append(commands.Run(release=release, invalid=error.reason))
            continue
        announce(f"torch {release}: {shlex.join(args.command)}")
        runs.append(commands.run(at, args.command, timeout=args.timeout))
        announce(f"torch {release}: {runs[-1].seconds:.1f} s")
    known = functools.partial(affects, matrix=matrix.read(records=found.records))
    report: Comparison = compare(args.command, runs[0], runs[1], found.records, affects=known, commit=commit)
    if head() != commit:
        raise UsageError("the checkout changed while the command ran: the two runs are not of one commit")
    text = rendered.render(
        report,
        args.format or "table",
        width=options.width(args.output),
        color=options.colored(args.color, args.output),
    )
    options.emit(text, args.output)
    return int(report.exit_code() if not found.broken else max(report.exit_code(), Exit.HARNESS))


def announce(text: str) -> None:
    """Say on stderr what is ahead."""
    print(f"compilefix: {text}", file=sys.stderr, flush=True)


def head() -> str | None:
    """Return the commit of the current folder, with ``+changes`` where files differ from it; None outside of git."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True, timeout=30)
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return commit.stdout.strip()[:12] + ("+changes" if changed.stdout.strip() else "")
