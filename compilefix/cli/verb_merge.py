"""``compilefix merge``: join the JSON reports of shards."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from compilefix import check
from compilefix.cli import options
from compilefix.cli.manual import CONFIG, HARNESS, USAGE, Manual
from compilefix.errors import UsageError
from compilefix.report import check as report

HELP = "join JSON reports of shards, or of devices, of one torch build"
MANUAL = Manual(
    description="""
Reads what `check --format json` wrote on several machines, or for several devices, and reports it as one check. The
reports must be of one torch build; where a record is in several of them, its outcomes are put together and the
worse verdict wins.""",
    examples=(
        ("compilefix merge part-1.json part-2.json", "two shards as one table"),
        ("compilefix merge part-1.json part-2.json --format junit -o report.xml", "the same for a CI server"),
        ("compilefix merge cpu.json cuda.json --fail-on reproduces", "two devices; a defect fails the job"),
    ),
    exits={
        0: "every record says what this torch does",
        1: "this torch contradicts a record; with --fail-on reproduces: or has a defect",
        2: f"{USAGE}, or reports that do not go together",
        3: f"{HARNESS} on one of the machines",
        4: "some record could not be judged",
        130: "one of the checks was interrupted",
    },
    reads=(CONFIG,),
    settings=("format", "fail_on"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``merge``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="reports written by `check --format json`")
    options.add_output(parser, list(report.FORMATS), "table")
    after = parser.add_argument_group("afterwards")
    after.add_argument("--fail-on", choices=check.FAIL_ON, help="what makes the exit code 1 (default: contradiction)")


def run(args: argparse.Namespace) -> int:
    """Run ``merge``."""
    chosen = {"format": "table", "fail_on": "contradiction"} | options.settings(args)
    merged = check.merge(_read(Path(name)) for name in args.files)
    text = report.render(
        chosen["format"], merged, width=options.width(args.output), color=options.colored(args.color, args.output)
    )
    options.emit(text, args.output)
    return int(merged.exit_code(chosen["fail_on"]))


def _read(path: Path) -> check.CheckReport:
    try:
        return check.CheckReport.from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, UsageError) as error:
        raise UsageError(f"{path}: {error}") from None
