"""``compilefix merge``: join the JSON reports of shards."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from compilefix import check
from compilefix.cli import options
from compilefix.errors import UsageError
from compilefix.report import check as report

HELP = "join JSON reports of shards, or of devices, of one torch build"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``merge``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="reports written by `check --format json`")
    options.add_output(parser, list(report.FORMATS), "table")
    parser.add_argument("--fail-on", choices=check.FAIL_ON, help="what makes the exit code 1 (default: contradiction)")


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
