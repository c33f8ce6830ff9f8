"""``compilefix minimize``: the smallest program that misbehaves as the user's does."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from compilefix.cli import diagnosing, options
from compilefix.cli.manual import CACHE, CONFIG, INTERRUPTED, USAGE, Manual
from compilefix.errors import Exit

HELP = "make a misbehaving function small: a file that runs with torch alone"
MANUAL = Manual(
    description="""
Takes away operations, inputs and elements as long as the program still does the same wrong, each trial in a process
of its own. What is left is one file that needs torch alone, and beside it its good neighbour: the nearest program
that is right.""",
    examples=(
        ("compilefix minimize model.py:forward -o small.py", "the smallest program, and small_good.py beside it"),
        (
            "compilefix minimize model.py:Net --inputs data.py:batch --eval --budget 600",
            "a module, ten minutes at most",
        ),
        ("compilefix minimize -o small.py -- python train.py", "of the first graph of a program that misbehaves"),
    ),
    exits={
        0: "healthy: there is nothing to make small",
        1: "it misbehaves; the program is written",
        2: USAGE,
        3: "it fails without torch.compile too, or the environment failed",
        4: "not deterministic, undecided, or not made smaller",
        130: f"{INTERRUPTED}; the smallest so far is written",
    },
    reads=("FILE: imported in processes of its own", CONFIG),
    writes=("-o FILE and FILE's good neighbour, <name>_good.py", CACHE),
    settings=("timeout", "jobs", "seed", "memory", "isolation", "cache_dir", "gpu", "repros"),
)
TAKES_COMMAND = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``minimize``."""
    parser.usage = "compilefix minimize [options] (FILE:FUNC | -- COMMAND ...)"
    diagnosing.add_subject(parser)
    diagnosing.add_running(parser)
    out = parser.add_argument_group("output")
    out.add_argument(
        "-o", "--output", metavar="FILE", help="write it to FILE, and its good neighbour beside it (default: stdout)"
    )


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
