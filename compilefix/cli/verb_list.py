"""``compilefix list``: what is known, without importing torch."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from compilefix.cli import options
from compilefix.cli.manual import CONFIG, MEASURED, RECORDS, USAGE, Manual
from compilefix.errors import Exit
from compilefix.registry import Record

HELP = "list the known defects and contracts; imports no torch"
MANUAL = Manual(
    description="""
An issue is listed with its symptom, the stage of the compiler that brings it in, the devices and the releases that
are affected; a contract with what plain and compiled code make of its statement. With --matrix: records times
releases, as measured; what was not measured is a dot, never a tick.""",
    examples=(
        ("compilefix list", "all that is known"),
        ("compilefix list --select symptom:wrong-gradient --ignore device:cuda", "wrong gradients on the CPU"),
        ("compilefix list --select record:contract", "statements about ops, and whether they are so"),
        ("compilefix list --matrix --format json", "what was measured on which release, for a program"),
    ),
    exits={0: "listed", 2: USAGE, 3: "a record cannot be read; the others are listed"},
    reads=(RECORDS, MEASURED, CONFIG),
    settings=("repros",),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``list``."""
    options.add_selection(parser)
    group = parser.add_argument_group("view")
    group.add_argument("--matrix", action="store_true", help="records times releases: what was measured where")
    options.add_output(parser, ("table", "json"), "table")


def run(args: argparse.Namespace) -> int:
    """Run ``list``."""
    chosen = {"format": "table"} | options.settings(args)
    found = options.registry(chosen)
    records = options.selected(found, chosen)
    from compilefix.report import listing

    if args.matrix:
        text = _matrix(args, records)
    elif args.format == "json":
        text = listing.list_json(records)
    else:
        text = listing.list_table(
            records, width=options.width(args.output), color=options.colored(args.color, args.output)
        )
    options.emit(text, args.output)
    for error in found.broken:
        print(f"compilefix: {error}", file=sys.stderr)
    return int(Exit.HARNESS if found.broken else Exit.EXPECTED)


def _matrix(args: argparse.Namespace, records: Sequence[Record]) -> str:
    from compilefix.report import releases
    from compilefix.upgrade import matrix

    found = matrix.read()
    if args.format == "json":
        return releases.as_json(records, found)
    color = options.colored(args.color, args.output)
    return releases.table(records, found, width=options.width(args.output), color=color)
