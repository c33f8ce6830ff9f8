"""``compilefix doctor``: is this machine able to compile at all?"""

from __future__ import annotations

import argparse
import json

from compilefix.cli import options
from compilefix.cli.manual import USAGE, Manual

HELP = "say whether this machine is able to compile at all, and the one command that mends each problem"
MANUAL = Manual(
    description="""
Looks at the C++ compiler, vector instructions, torch, Triton and whether it fits this torch, CUDA and its driver,
the cache folders (writable, how large, stale), state that a bisection left behind, variables and settings that
steer the compiler, and the disk; then it compiles a one-liner twice and says the seconds.

Nothing is changed. Variables of the environment are left as they are, other than in `check`: they may be the
problem.""",
    examples=(
        ("compilefix doctor", "all of it, 10 to 60 seconds"),
        ("compilefix doctor --no-compile", "without the one-liner, a few seconds"),
        ("compilefix doctor --format json -o doctor.json", "to be attached to a report"),
    ),
    exits={0: "nothing is in the way of torch.compile", 1: "something needs mending", 2: USAGE},
    reads=("the cache folders of Inductor, Triton and compilefix: names and sizes",),
    writes=("what compiling a one-liner leaves in Inductor's cache folder",),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``doctor``."""
    group = parser.add_argument_group("examination")
    group.add_argument(
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
