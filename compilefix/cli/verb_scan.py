"""``compilefix scan``: version gates, links to upstream issues and affected ops in your sources."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilefix.cli import options
from compilefix.cli.manual import CONFIG, RECORDS, USAGE, Manual
from compilefix.errors import Exit, UsageError

if TYPE_CHECKING:
    from compilefix.scan import Finding, ScanReport

HELP = "find dead and defective version gates, dead workarounds and affected ops in sources; imports no torch"
FORMATS = ("table", "json", "markdown", "sarif")
MANUAL = Manual(
    description="""
Finds version gates that no supported torch makes true or false, gates that compare wrongly, workarounds that
nothing needs any more, and calls of affected ops, with whether they run compiled. Sources are read, never executed.

--fix removes what is provably dead and puts drop-in ops in the place of affected ones, nothing else; --diff shows
it and writes nothing. A comment suppresses findings of its line: `# noqa: CF101` or `# compilefix: ignore[CF101]`;
for a whole file: `# compilefix: ignore-file`.""",
    examples=(
        ("compilefix scan src --min-torch 2.9", "gates, links and ops in src, for torch 2.9 and later"),
        ("compilefix scan src --diff", "what --fix would change"),
        ("compilefix scan --select CF1 --format sarif -o gates.sarif", "gates only, for code scanning"),
    ),
    exits={
        0: "nothing found but notes",
        1: "findings",
        2: USAGE,
        3: "no file could be read, or a file could not be changed",
    },
    reads=(CONFIG, "requirements of the project: pyproject.toml, setup.cfg or setup.py", RECORDS),
    writes=("with --fix: the files in which something is found",),
    settings=("min_torch", "max_torch", "scan_select", "scan_ignore", "jobs", "format", "repros"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``scan``."""
    from compilefix.scan.finding import RULES

    rules = "\n".join(f"  {r.code}  {r.name:<21} {r.about}{' (note)' * (r.level == 'note')}" for r in RULES.values())
    parser.epilog = f"rules:\n{rules}\n\n{MANUAL.below()}"
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders (default: here)")
    group = parser.add_argument_group("what counts")
    group.add_argument(
        "--min-torch", metavar="VERSION", help="oldest torch supported (default: the project's requirement)"
    )
    group.add_argument(
        "--max-torch",
        metavar="VERSION",
        help="newest torch supported (default: the project's upper bound, else the newest one measured)",
    )
    group.add_argument(
        "--select",
        action="append",
        metavar="CODE",
        help="only rules that begin with CODE, such as CF2 (repeatable; default: all)",
    )
    group.add_argument("--ignore", action="append", metavar="CODE", help="not those (repeatable; default: none)")
    group.add_argument("--all", action="store_true", help="list notes too")
    options.add_repros(group)
    change = parser.add_argument_group("changing sources").add_mutually_exclusive_group()
    change.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    change.add_argument("--fix", action="store_true", help="change the files")
    group.add_argument("--jobs", type=int, metavar="N", help="processes side by side (default: cores)")
    options.add_output(parser, FORMATS, "table")


def run(args: argparse.Namespace) -> int:
    """Run ``scan``."""
    options.check_writable(args.output)
    chosen = options.settings(args)
    wanted = {
        "select": args.select or chosen.get("scan_select", []),
        "ignore": args.ignore or chosen.get("scan_ignore", []),
    }
    _check_codes([*wanted["select"], *wanted["ignore"]])
    jobs = chosen.get("jobs", options.cores())
    if jobs < 1:
        raise UsageError(f"--jobs {jobs} must be at least 1")
    paths = args.paths or [Path()]
    if absent := next((path for path in paths if not path.exists()), None):
        raise UsageError(f"no such file or folder: {absent}")
    from compilefix.scan import scan

    found = options.registry(chosen)
    for error in found.broken:
        print(f"compilefix: {error}", file=sys.stderr)
    minimum, maximum, bounded = _supported(paths, chosen)
    report = scan(paths, minimum=minimum, maximum=maximum, records=found.records, jobs=jobs, bounded=bounded)
    report = replace(report, findings=tuple(f for f in report.findings if _wanted(f.rule, wanted)))
    for line in report.broken:
        print(f"compilefix: {line}", file=sys.stderr)
    if args.diff or args.fix:
        return _change(report, args)
    from compilefix.report import scan as formats

    given = chosen.get("format", "table")
    text = formats.render(
        given if given in FORMATS else "table",
        report,
        notes=args.all or any(_is_note(code) for code in wanted["select"]),
        width=options.width(args.output),
        color=options.colored(args.color, args.output),
    )
    options.emit(text, args.output)
    return _exit(report)


def _exit(report: ScanReport) -> int:
    if report.problems:
        return int(Exit.FINDINGS)
    return int(Exit.HARNESS if report.broken and len(report.broken) == report.files else Exit.EXPECTED)


def _supported(paths: list[Path], chosen: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Return minimum, maximum, and whether the maximum was set by somebody; say on stderr where they come from."""
    from compilefix import measured
    from compilefix.scan import supported

    least, most = chosen.get("min_torch"), chosen.get("max_torch")
    minimum = supported.parse("--min-torch", least) if least else None
    maximum = supported.parse("--max-torch", most) if most else None
    project = supported.supported(paths[0]) if minimum is None or maximum is None else supported.Supported()
    bounded = maximum is not None or project.maximum is not None
    if minimum is None:
        minimum = project.minimum
        source = f"{project.source}" if minimum is not None else "no project file names one: --min-torch VERSION"
        print(f"compilefix: minimum torch {minimum or 'unknown'} ({source})", file=sys.stderr)
    if maximum is None:
        maximum = project.maximum or supported.measured([p.stem for p in measured.folder().glob("*.json")])
    if minimum is not None and minimum > maximum:
        if bounded:
            raise UsageError(f"the minimum torch, {minimum}, is later than the maximum, {maximum}")
        maximum = minimum
    return minimum, maximum, bounded


def _check_codes(codes: Iterable[str]) -> None:
    from compilefix.scan.finding import RULES

    for code in codes:
        if not code or not any(rule.startswith(code) for rule in RULES):
            raise UsageError(f"no rule begins with {code!r}; one of {', '.join(RULES)}")


def _wanted(rule: str, wanted: dict[str, list[str]]) -> bool:
    selected = not wanted["select"] or rule.startswith(tuple(wanted["select"]))
    return selected and not (wanted["ignore"] and rule.startswith(tuple(wanted["ignore"])))


def _is_note(code: str) -> bool:
    from compilefix.scan.finding import RULES

    return code in RULES and RULES[code].level == "note"


def _change(report: ScanReport, args: argparse.Namespace) -> int:
    """Show or make the changes; what is left is a finding still."""
    from compilefix.scan import edit

    changes, failed = edit.changes(report.findings)
    if args.diff:
        options.emit("".join(change.diff() for change in changes), args.output)
    for change in changes if args.fix else ():
        try:
            change.write()
        except OSError as error:
            failed.append(f"{change.path}: not changed: {error.strerror or error}")
    for line in failed:
        print(f"compilefix: {line}", file=sys.stderr)
    count = sum(change.count for change in changes)
    verb = "changed" if args.fix else "would change"
    print(
        f"compilefix: {verb} {count} place{'s' * (count != 1)} in {len(changes)} file{'s' * (len(changes) != 1)}",
        file=sys.stderr,
    )
    if failed:
        return int(Exit.HARNESS)
    left = _left(report.problems, changed=args.fix)
    return int(Exit.FINDINGS if left else Exit.EXPECTED)


def _left(problems: Iterable[Finding], *, changed: bool) -> list[Finding]:
    return [f for f in problems if not (changed and f.edit)]
