"""``compilefix new NUMBER TITLE``: scaffold the one file of a new issue, or of a contract."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from compilefix.cli import options
from compilefix.cli.manual import CONFIG, RECORDS, USAGE, Manual
from compilefix.errors import Exit, UsageError
from compilefix.registry import discover, read, shipped_folder

HELP = "write the file of a new issue or contract, with the blanks marked"
MANUAL = Manual(
    description="""
Writes one file with the record, the inputs, the program and the workaround of a new issue, or the claim of a
contract. Blanks are marked FILL IN. Then `compilefix check ID` runs it; nothing else has to be edited. The number
of the upstream issue is the id, and is never used again.""",
    examples=(
        ('compilefix new 198094 "A functional scatter writes into its input"', "an issue that is reported upstream"),
        ('compilefix new local "sinh is infinite too early" --seen 2.14.1', "one that is not reported yet"),
        ('compilefix new contract "torch.scatter writes into its input"', "a statement to be tested"),
        ('compilefix new 198094 "Private" --into team/repros', "into a folder of your own"),
    ),
    exits={0: "written", 2: f"{USAGE}, or an id that is taken"},
    reads=(RECORDS, CONFIG),
    writes=("DIR/<id>_<first words of the title>.py",),
    settings=("repros",),
)

TEMPLATE = '''"""
{title}.

Why: FILL IN the cause, in plain words.
What to do: FILL IN exactly what to write or set instead.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit=None,
    devices=("cpu", "cuda"),
    ops=(),
    affected=(Affected(first_seen="{seen}"),),
    references=({reference}),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(12.0, device=device).reshape(3, 4),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.cos()


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x.cos()
'''

CONTRACT = '''"""
{title}: FILL IN whether it is so.

Why: FILL IN the cause, in plain words.
What to do: FILL IN exactly what to write or set instead.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(
    statement="{statement}.",
    truth=Truth.HOLDS,
    ops=(),
    references=(),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(12.0, device=device).reshape(3, 4),)


def program(x: torch.Tensor) -> torch.Tensor:
    return x.cos()


def claim(x: torch.Tensor) -> torch.Tensor:
    """Return, plainly, what program would return if the statement were true; raise or write what it would."""
    return x.cos()
'''


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``new``."""
    parser.add_argument(
        "number",
        metavar="NUMBER",
        help="number of the upstream issue, `local` before it is reported, or `contract` for a statement to test",
    )
    parser.add_argument("title", metavar="TITLE", help="one sentence that says what goes wrong, or the statement")
    group = parser.add_argument_group("record")
    group.add_argument("--seen", default="2.13.0", metavar="VERSION", help="release you saw it on (default: 2.13.0)")
    group.add_argument("--into", metavar="DIR", help="folder to write to (default: the registry's)")
    options.add_repros(group)


def run(args: argparse.Namespace) -> int:
    """Run ``new``."""
    number = args.number.removeprefix("gh").removeprefix("#")
    if not (number.isdigit() or number in ("local", "contract")):
        raise UsageError(f"{args.number!r} is not an issue number; write 198094, local or contract")
    words = re.findall(r"[a-z0-9]+", args.title.lower())[:4]
    if not words:
        raise UsageError("the title has no word in it")
    prefix = f"gh{number}" if number.isdigit() else number
    taken = {r.id for r in discover(Path(f) for f in options.settings(args).get("repros", ())).records}
    folder = Path(args.into) if args.into else shipped_folder()
    path = folder / f"{prefix}_{'_'.join(words)}.py"
    id = prefix if number.isdigit() else f"{prefix}-{'-'.join(words)}"
    if id in taken or path.exists():
        raise UsageError(f"{id} exists already; ids are never reused")
    if not folder.is_dir():
        raise UsageError(f"no such folder of repros: {folder}")
    reference = f'"https://github.com/pytorch/pytorch/issues/{number}",' if number.isdigit() else ""
    title = " ".join(args.title.split()).rstrip(".").replace("\\", "\\\\")
    fields = {"title": title.replace('"""', "'''"), "statement": title.replace('"', '\\"'), "seen": args.seen}
    template = CONTRACT if number == "contract" else TEMPLATE
    path.write_text(template.format(reference=reference, **fields), encoding="utf-8")
    read(path)
    print(f"{path}\nNow fill in the blanks and run: compilefix check {id}")
    return int(Exit.EXPECTED)
