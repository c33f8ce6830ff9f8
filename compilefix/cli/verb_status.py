"""``compilefix status``: what is on for the running torch, and who said so."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from compilefix import environment
from compilefix.cli import options
from compilefix.cli.manual import RECORDS, USAGE, Manual
from compilefix.errors import Exit

HELP = "every drop-in op and workaround: on or off for the running torch, and who said so"
MANUAL = Manual(
    description="""
Three voices decide, strongest first: COMPILEFIX_FORCE, what `compilefix probe` measured on this very build, the
range of releases of the record. With PATHs, your sources are searched for the workarounds that they ask for.""",
    examples=(
        ("compilefix status", "every op and workaround on the running torch"),
        ("compilefix status --stale src", "exit code 1 where src asks for what this torch does not need"),
        ("compilefix status --format json -o status.json", "for a program"),
    ),
    exits={
        0: "as it should be",
        1: "with --stale: something is forced or asked for that is not needed",
        2: USAGE,
        3: "torch does not import",
    },
    reads=(
        RECORDS,
        "~/.cache/compilefix/probe: what `compilefix probe` measured",
        "*.py below PATH: read, not executed",
    ),
    more={"COMPILEFIX_FORCE": "gh198094=off,gh183763=on: what is on and off whatever else says so"},
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``status``."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="sources to search for what they ask for")
    group = parser.add_argument_group("view")
    group.add_argument(
        "--stale", action="store_true", help="exit with 1 where something is forced or asked for that is not needed"
    )
    options.add_output(parser, ["table", "json"], "table")


def run(args: argparse.Namespace) -> int:
    """Run ``status``."""
    options.check_writable(args.output)
    environment.require_torch()
    from compilefix.report import standing as table
    from compilefix.standing import status

    found = status(args.paths)
    if args.format == "json":
        text = json.dumps(found.to_json(), indent=2) + "\n"
    else:
        text = table.render(
            found,
            width=options.width(args.output),
            color=options.colored(args.color, args.output),
            stale_only=args.stale,
        )
    options.emit(text, args.output)
    return int(Exit.FINDINGS if args.stale and found.stale else Exit.EXPECTED)
