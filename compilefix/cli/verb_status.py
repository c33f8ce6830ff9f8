"""``compilefix status``: what is on for the running torch, and who said so."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from compilefix import environment
from compilefix.cli import options
from compilefix.errors import Exit

HELP = "every drop-in op and workaround: on or off for the running torch, and who said so"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``status``."""
    parser.epilog = "Sources decide in this order: COMPILEFIX_FORCE, `compilefix probe` on this build, the records."
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="sources to search for what they ask for")
    parser.add_argument(
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
