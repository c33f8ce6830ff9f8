"""``compilefix minimize``: the smallest program that misbehaves as the user's does."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from compilefix.cli import diagnosing, options
from compilefix.errors import Exit

HELP = "make a misbehaving function small: a file that runs with torch alone"
TAKES_COMMAND = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``minimize``."""
    parser.epilog = "exit codes: 1 it misbehaves, the file is written; 0 healthy; 4 not made smaller; else as diagnose"
    diagnosing.add_subject(parser)
    diagnosing.add_running(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to FILE, and its good neighbour beside it")


def run(args: argparse.Namespace) -> int:
    """Run ``minimize``."""
    options.check_writable(args.output)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = diagnosing.diagnosed(args, match=False, cure=False, minimise=True)
    small = found.minimal
    if small is None:
        why = found.reason if found.exit_code != Exit.FINDINGS else "; ".join(found.warnings)
        print(f"compilefix: {found.subject}: {found.conclusion.value}{f': {why}' if why else ''}", file=sys.stderr)
        return int(Exit.INCONCLUSIVE if found.exit_code == Exit.FINDINGS else found.exit_code)
    print(
        f"compilefix: {small.nodes} of {small.nodes_before} operations, "
        f"{small.elements} of {small.elements_before} elements",
        file=sys.stderr,
    )
    if args.output:
        diagnosing.write_minimal(found, Path(args.output))
    else:
        options.emit(small.source, None)
    return int(found.exit_code)
