"""``compilefix diagnose``: which part of the compiler breaks the user's own function, and what works instead."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from compilefix.cli import diagnosing, options
from compilefix.errors import UsageError
from compilefix.report import diagnosis as report

HELP = "find which part of the compiler breaks your own function, and what works instead"
TAKES_COMMAND = True
EPILOG = """\
exit codes:
  0 healthy   1 a defect   2 usage   3 it fails without torch.compile too, or the environment failed
  4 not deterministic, or undecided   130 interrupted (the best so far is reported)

examples:
  compilefix diagnose model.py:forward                    inputs() beside it makes the arguments
  compilefix diagnose model.py:Net --inputs data.py:batch
  compilefix diagnose repro.py                            an FX repro or a minifier's dump
  compilefix diagnose -- python train.py                  the first graph of a program that misbehaves
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``diagnose``."""
    parser.epilog = EPILOG
    diagnosing.add_subject(parser)
    run = diagnosing.add_running(parser)
    run.add_argument("--no-match", action="store_true", help="do not look into the registry")
    run.add_argument("--no-cure", action="store_true", help="try no workarounds")
    run.add_argument("--no-minimize", action="store_true", help="do not make the program smaller")
    parser.add_argument("--artifacts", metavar="DIR", help="keep graphs, kernels, bytecode and logs in DIR")
    parser.add_argument("--minimal", metavar="FILE", help="write the minimal program to FILE")
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
