"""``compilefix explain ID``: why it happens, who is affected, what to write instead."""

from __future__ import annotations

import argparse

from compilefix import measured
from compilefix.cli import options
from compilefix.cli.manual import CONFIG, MEASURED, RECORDS, USAGE, Manual
from compilefix.errors import Exit

HELP = "explain one record: cause, program, workaround, versions, measurements, what to do; imports no torch"
MANUAL = Manual(
    description="""
All that is known of one record: what goes wrong and why, the program that shows it, what to write or set instead,
the releases that are affected with where that is known from, and what was measured on which release.""",
    examples=(
        ("compilefix explain gh198094", "cause, program, workaround and measurements"),
        ("compilefix explain gh198094 --format markdown -o gh198094.md", "the same as a page"),
        ("compilefix explain contract-scatter-casts-src", "a statement about an op, and whether it is so"),
    ),
    exits={0: "explained", 2: USAGE},
    reads=(RECORDS, MEASURED, CONFIG),
    settings=("repros",),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``explain``."""
    parser.add_argument("id", metavar="ID", help="a record such as gh198094")
    options.add_repros(parser.add_argument_group("selection"))
    options.add_output(parser, ("text", "markdown"), "text")


def run(args: argparse.Namespace) -> int:
    """Run ``explain``."""
    record = options.registry(options.settings(args)).get(args.id)
    from compilefix.report import listing

    cells = measured.cells(record.id)
    if args.format == "markdown":
        text = listing.explain_markdown(record, measured=cells)
    else:
        text = listing.explain_text(
            record,
            width=options.width(args.output),
            color=options.colored(args.color, args.output),
            measured=cells,
        )
    options.emit(text, args.output)
    return int(Exit.EXPECTED)
