"""``compilefix doctor``: is this machine able to compile at all?"""

from __future__ import annotations

import argparse
import json

from compilefix.cli import options

HELP = "is this machine able to compile at all? each problem with the one command that mends it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``doctor``."""
    parser.epilog = (
        "Nothing is changed. Variables of the environment are left as they are, other than in `check`: they may be\n"
        "the problem. Exit code 1 where something needs mending.\n\n"
        "examples:\n  compilefix doctor\n  compilefix doctor --no-compile --format json"
    )
    parser.add_argument(
        "--no-compile", action="store_true", help="do not compile the one-liner (seconds instead of a minute)"
    )
    options.add_output(parser, ["table", "json"], "table")


def run(args: argparse.Namespace) -> int:
    """Run ``doctor``."""
    options.check_writable(args.output)
    from compilefix import doctor
    from compilefix.report import checkup as table

    found = doctor.examine(doctor.meet(compile=not args.no_compile))
    if args.format == "json":
        text = json.dumps(found.to_json(), indent=2) + "\n"
    else:
        text = table.render(found, width=options.width(args.output), color=options.colored(args.color, args.output))
    options.emit(text, args.output)
    return int(found.exit_code())
