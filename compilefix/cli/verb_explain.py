"""``compilefix explain ID``: why it happens, who is affected, what to write instead."""

from __future__ import annotations

import argparse

from compilefix import measured
from compilefix.cli import options
from compilefix.errors import Exit

HELP = "explain one record: cause, program, workaround, versions, measurements, what to do; imports no torch"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``explain``."""
    parser.add_argument("id", metavar="ID", help="a record such as gh198094")
    options.add_repros(parser)
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
