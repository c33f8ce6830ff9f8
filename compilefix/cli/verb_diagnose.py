"""``compilefix diagnose``: which part of the compiler breaks the user's own function, and what works instead."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from compilefix.cli import diagnosing, options
from compilefix.cli.manual import CACHE, CONFIG, INTERRUPTED, RECORDS, USAGE, Manual
from compilefix.errors import UsageError
from compilefix.report import diagnosis as report

HELP = "find which part of the compiler breaks your own function, and what works instead"
TAKES_COMMAND = True
MANUAL = Manual(
    description="""
The function runs plainly, twice and in float64, and then compiled, stage by stage, each run in a process of its
own. Where it goes wrong, the diagnosis turns off one part of the compiler after the other until the guilty one is
found, makes the program small, looks for a known record that matches, and tries every workaround on your own inputs
with its price.

FILE:FUNC is a function or a module class; FILE alone an FX repro or a minifier's dump. Arguments come from inputs()
in FILE, or from --inputs. Behind -- stands a whole program: its first graph that misbehaves is diagnosed.""",
    examples=(
        ("compilefix diagnose model.py:forward", "a function; inputs() beside it makes the arguments"),
        ("compilefix diagnose model.py:Net --inputs data.py:batch --eval", "a module in evaluation mode"),
        ("compilefix diagnose model.py:forward --format markdown -o issue.md", "ready to be filed upstream"),
        ("compilefix diagnose -- python train.py", "the first graph of a program that misbehaves"),
    ),
    exits={
        0: "healthy",
        1: "a defect",
        2: USAGE,
        3: "it fails without torch.compile too, or the environment failed",
        4: "not deterministic, or undecided",
        130: f"{INTERRUPTED}; the best so far is reported",
    },
    reads=("FILE: imported in processes of its own", RECORDS, CONFIG),
    writes=("DIR, with --artifacts DIR: graphs, kernels, bytecode and logs", "FILE, with --minimal FILE", CACHE),
    settings=("timeout", "jobs", "seed", "memory", "isolation", "cache_dir", "gpu", "repros"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``diagnose``."""
    parser.usage = "compilefix diagnose [options] (FILE:FUNC | -- COMMAND ...)"
    diagnosing.add_subject(parser)
    run = diagnosing.add_running(parser)
    run.add_argument("--no-match", action="store_true", help="do not look into the registry")
    run.add_argument("--no-cure", action="store_true", help="try no workarounds")
    run.add_argument("--no-minimize", action="store_true", help="do not make the program smaller")
    kept = parser.add_argument_group("what is kept")
    kept.add_argument(
        "--artifacts", metavar="DIR", help="keep graphs, kernels, bytecode and logs in DIR (default: none)"
    )
    kept.add_argument("--minimal", metavar="FILE", help="write the minimal program to FILE (default: none)")
    options.add_output(parser, list(report.FORMATS), "table")


def run(args: argparse.Namespace) -> int:
    """Run ``diagnose``."""
    options.check_writable(args.output)
    options.check_writable(args.minimal)
    if args.artifacts and Path(args.artifacts).is_file():
        raise UsageError(f"cannot write {args.artifacts}: it is a file")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = diagnosing.diagnosed(args, match=not args.no_match, cure=not args.no_cure, minimise=not args.no_minimize)
    text = report.render(
        args.format or "table",
        found,
        width=options.width(args.output),
        color=options.colored(args.color, args.output),
    )
    options.emit(text, args.output)
    if args.minimal:
        diagnosing.write_minimal(found, Path(args.minimal))
    if found.interrupted:
        print("compilefix: interrupted; this is the best so far", file=sys.stderr)
    return int(found.exit_code)
