"""The command line: one file a verb, found by its name; parse, call, render, exit."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from compilefix import __version__
from compilefix.cli.manual import (
    CACHE,
    CONFIG,
    HARNESS,
    INTERRUPTED,
    JOURNAL,
    MEASURED,
    RECORDS,
    REPORT,
    USAGE,
    Manual,
    filled,
)
from compilefix.errors import CompilefixError, Exit, UsageError

MANUAL = Manual(
    description="""
Which known torch.compile defects hit the torch in front of you, and what works instead. Each verb has a help of its
own: compilefix VERB --help.""",
    examples=(
        ("compilefix check", "which known defects hit the torch in front of you"),
        ("compilefix explain gh198094", "why one of them happens, and what to write instead"),
        ("compilefix diagnose model.py:forward", "what breaks your own function, and what works instead"),
        ("compilefix upgrade --from 2.9.1 --to 2.14.1 src", "what changes, and which of your lines it concerns"),
    ),
    exits={0: "as expected", 1: "findings", 2: USAGE, 3: HARNESS, 4: "inconclusive", 130: INTERRUPTED},
    reads=(CONFIG, RECORDS, MEASURED),
    writes=(REPORT, CACHE, JOURNAL),
    more={"COMPILEFIX_<OPTION>": "default of an option, such as COMPILEFIX_TIMEOUT=30; each verb names those it takes"},
)


class Verb(Protocol):
    """What a module of this package defines."""

    HELP: str
    """One sentence, for the list of verbs."""

    MANUAL: Manual

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit code."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and point at the help."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print one line and exit with the usage code."""
        self.exit(Exit.USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def names() -> list[str]:
    """Return the names of all verbs; imports none of them."""
    found = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("verb_"))
    return [name.removeprefix("verb_") for name in found]


def load(name: str) -> Verb:
    """Import the verb called `name`."""
    return cast(Verb, importlib.import_module(f"{__name__}.verb_{name}"))


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of all verbs, of one, or (``""``) of none: a command pays for its own verb's imports only."""
    top = Parser(
        prog="compilefix",
        description=MANUAL.above(),
        epilog=MANUAL.below(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"compilefix {__version__}")
    sub = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for name in names() if only is None else filter(None, [only]):
        verb = load(name)
        child = sub.add_parser(
            name,
            help=verb.HELP,
            description=f"{filled(_sentence(verb.HELP))}\n\n{verb.MANUAL.above()}",
            epilog=verb.MANUAL.below(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.configure(child)
        child.set_defaults(run=verb.run)
    return top


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; what stands behind ``--`` is the user's own command, for the verbs that take one."""
    own: list[str] = []
    argv = list(argv)
    only = argv[0] if argv and argv[0] in names() else "" if argv == ["--version"] else None
    if only and "--" in argv and getattr(load(only), "TAKES_COMMAND", False):
        at = argv.index("--")
        argv, own = argv[:at], argv[at + 1 :]
        if not own:
            raise UsageError("no command stands behind --")
    args = parser(only).parse_args(argv)
    args.command = own
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if "_ARGCOMPLETE" in os.environ:
        from compilefix.cli.completing import complete

        complete(parser, names())
    try:
        args = parse(sys.argv[1:] if argv is None else argv)
        return int(args.run(args))
    except CompilefixError as error:
        print(f"compilefix: {error}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("compilefix: interrupted", file=sys.stderr)
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left, e.g. `| head`
        return int(Exit.EXPECTED)
