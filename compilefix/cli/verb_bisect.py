"""``compilefix bisect``: in which torch release something broke, or was fixed."""

from __future__ import annotations

import argparse
import functools
import hashlib
import shlex
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilefix.cli import options
from compilefix.cli.manual import CONFIG, ENVIRONMENTS, INTERRUPTED, MEASURED, RECORDS, USAGE, Manual
from compilefix.cli.verb_upgrade import add_environment, announce
from compilefix.errors import UsageError

if TYPE_CHECKING:
    from compilefix.upgrade.bisection import BisectReport, Step

HELP = "find the torch release in which a record, a function or a command of yours broke, or was fixed"
FORMATS = ("table", "json", "markdown", "html")
REGRESS = ("wrong-result", "error", "crash", "hang")
TAKES_COMMAND = True
MANUAL = Manual(
    description="""
Halves the releases between a good and a bad one until two neighbours are left. A record's outcome is taken from the
shipped measurements where they have it; a function or a command runs in an environment of each release. A command
is good with exit code 0 and skips the release with 125. Releases that do not install are skipped.""",
    examples=(
        ("compilefix bisect --good 2.9.1 --bad 2.13.0 gh198280", "the release that brought a record's defect"),
        (
            "compilefix bisect --bad 2.13.0 --good 2.15.0 --find-fix model.py:step --inputs model.py:batch",
            "the release that made your function right again",
        ),
        (
            "compilefix bisect --good 2.9.1 --bad 2.13.0 --regress crash -- python train.py --steps 3",
            "the release since which your program dies",
        ),
    ),
    exits={
        0: "the release was found",
        2: USAGE,
        3: "a record cannot be read, or an environment failed",
        4: "both ends are the same, or cannot be judged",
        130: f"{INTERRUPTED}; --resume goes on",
    },
    reads=(MEASURED, RECORDS, CONFIG),
    writes=(ENVIRONMENTS, "~/.local/state/compilefix/bisect: what --resume goes on with"),
    settings=("repros", "environments"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``bisect``."""
    parser.usage = "compilefix bisect --good A --bad B [options] (ID | FILE:FUNC | -- COMMAND ...)"
    parser.add_argument("subject", nargs="?", metavar="ID|FILE:FUNC", help="a record, or a function that is compiled")
    which = parser.add_argument_group("releases")
    which.add_argument("--good", required=True, metavar="A", help="release on which it is right")
    which.add_argument("--bad", required=True, metavar="B", help="release on which it is wrong")
    which.add_argument("--find-fix", action="store_true", help="the bad release is the older one: find the fix")
    which.add_argument("--releases", metavar="LIST", help="try only these, such as 2.10.0,2.11.0 (default: all)")
    group = parser.add_argument_group("running")
    group.add_argument(
        "--regress",
        choices=REGRESS,
        help="only this class of failure is bad, another skips a release (default: any is bad)",
    )
    group.add_argument(
        "--inputs", metavar="FILE:FUNC", help="what returns the arguments of FILE:FUNC (default: inputs() in FILE)"
    )
    group.add_argument(
        "--target",
        metavar="T",
        help="run a record or function only on BACKEND[:DEVICE][:dynamic] (default: every stage)",
    )
    group.add_argument(
        "--timeout",
        type=float,
        metavar="S",
        help="seconds of one run, then it is a hang (default: 60; of a command: 600)",
    )
    group.add_argument("--resume", action="store_true", help="continue what was interrupted")
    group.add_argument("--measure", action="store_true", help="run a record also where its outcome is known already")
    options.add_repros(group)
    options.add_index(which)
    add_environment(parser.add_argument_group("environment of a command"))
    options.add_output(parser, FORMATS, "table")


def run(args: argparse.Namespace) -> int:
    """Run ``bisect``."""
    from compilefix.report import bisection as rendered

    options.check_writable(args.output)
    _validate(args)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what runs ends with this process, and the state stays
    report = _bisect(args)
    text = rendered.render(
        report,
        args.format or "table",
        width=options.width(args.output),
        color=options.colored(args.color, args.output),
    )
    options.emit(text, args.output)
    return int(report.exit_code())


def _validate(args: argparse.Namespace) -> None:
    if bool(args.subject) == bool(args.command):
        raise UsageError("name one thing to bisect: ID, FILE:FUNC, or a command behind --")
    if args.command and (args.inputs or args.target or args.measure):
        raise UsageError("--inputs, --target and --measure go with a record or a function, not with a command")
    if args.subject and (args.packages or args.requirements):
        raise UsageError("--with and --requirements go with a command behind --")
    if args.inputs and ":" not in args.subject:
        raise UsageError("--inputs goes with FILE:FUNC")
    if args.timeout is not None and args.timeout <= 0:
        raise UsageError(f"--timeout {args.timeout:g} must be more than 0 seconds")


def _bisect(args: argparse.Namespace) -> BisectReport:
    from compilefix.upgrade import bisection, releases, subjects
    from compilefix.upgrade.environments import public

    good, bad = public(args.good), public(args.bad)
    first, last = (bad, good) if args.find_fix else (good, bad)
    limited = [public(name.strip()) for name in (args.releases or "").split(",") if name.strip()]
    try:
        names, source = releases.between(first, last, limited)
    except UsageError as error:
        hint = "" if args.find_fix else "; to find a fix, where the bad release is older, add --find-fix"
        raise UsageError(f"{error}{hint if 'not before' in str(error) else ''}") from None
    target = subjects.target_of(args.target)
    with tempfile.TemporaryDirectory(prefix="compilefix-bisect-") as scratch:
        known, test, subject, program = _subject(args, target, Path(scratch))
        state = bisection.State(_path(args, first, last), _key(args, program), resume=args.resume)
        report = bisection.BisectReport(
            subject=subject,
            command=_again(resume=False),
            resume=_again(resume=True),
            first=first,
            last=last,
            find_fix=args.find_fix,
            regress=args.regress,
            source=source,
            program=program,
        )
        announce(f"{len(names)} releases from {first} to {last}, from {source}")
        found = bisection.bisect(names, known=known, test=test, state=state, report=report, announce=announce)
        if found.interrupted:
            announce(f"interrupted; to continue: {found.resume}")
        return found


def _subject(
    args: argparse.Namespace, target: str | None, scratch: Path
) -> tuple[Callable[[str], Step | None], Callable[[str], Step], str, str]:
    """Return what tells of a release without running, what runs it, and the name and program of the subject."""
    from compilefix.upgrade import matrix, subjects

    def nothing(release: str) -> Step | None:
        return None

    if args.command:
        ran: Callable[..., Step] = functools.partial(
            subjects.run,
            args.command,
            announce=announce,
            regress=args.regress,
            timeout=args.timeout or 600.0,
            packages=args.packages or (),
            requirements=[Path(file) for file in args.requirements or ()],
            index_url=args.index_url,
        )
        return nothing, lambda release: ran(release), shlex.join(args.command), ""
    chosen = options.settings(args)
    folders = [str(Path(folder).resolve()) for folder in chosen.get("repros", ())]
    known: Callable[[str], Step | None] = nothing
    if ":" in args.subject:
        record = subjects.of_function(args.subject, args.inputs, scratch)
        folders, wanted = [str(scratch)], subjects.wanted_of(None, args.regress)
        program = "\n\n\n".join(filter(None, (_source(args.inputs or ""), _source(args.subject))))
    else:
        record = options.registry(chosen).get(args.subject)
        wanted, program = subjects.wanted_of(record, args.regress), subjects.program(record)
        table = matrix.read()
        if not args.measure:
            known = functools.partial(subjects.known_of, record, table, regress=args.regress, target=target)

    def test(release: str) -> Step:
        return subjects.check(
            record,
            release,
            announce,
            wanted=wanted,
            target=target,
            timeout=args.timeout or 60.0,
            repros=folders,
            index_url=args.index_url,
        )

    return known, test, args.subject, program


def _source(subject: str) -> str:
    """Return the text of ``FILE:FUNC``; empty where nothing is named."""
    import ast

    file, _, function = subject.rpartition(":")
    if not file:
        return ""
    text = Path(file).read_text(encoding="utf-8", errors="replace")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
    return ""


def _again(*, resume: bool) -> str:
    """Return the command line that continues or repeats this one."""
    words = [word for word in sys.argv[1:] if word != "--resume"]
    return shlex.join(["compilefix", *words[:1], *(["--resume"] if resume else []), *words[1:]])


def _key(args: argparse.Namespace, program: str) -> str:
    parts: list[Any] = [args.subject, args.command, args.regress, args.inputs, args.target, program, str(Path.cwd())]
    parts += [args.packages, args.requirements]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def _path(args: argparse.Namespace, first: str, last: str) -> Path:
    from compilefix.upgrade import bisection

    name = hashlib.sha256(repr([args.subject, args.command, first, last]).encode()).hexdigest()[:16]
    return bisection.folder() / f"{name}.json"
