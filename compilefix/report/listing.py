"""Records for people: the list of what is known, and all that is known of one record."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from compilefix.issue import Contract, Issue, Truth
from compilefix.report.json import dumps
from compilefix.report.markdown import code, escape, fence
from compilefix.report.table import HEADERS, Page, Row, Rows

if TYPE_CHECKING:
    from compilefix.registry import Record

SCHEMA = 1
Measured = Mapping[str, Mapping[str, str]]
"""Environment name to target to outcome word."""


def list_table(records: Sequence[Record], *, width: int | None = None, color: bool = False) -> str:
    """
    Return the records as tables.

    Issues with symptom, stage, devices, affected releases and title; contracts with what plain and compiled code say of
    the statement, and below it the releases whose compiled code does otherwise.
    """
    page = Page(width, color=color)
    kinds = [[r for r in records if r.kind == kind] for kind in ("issue", "contract")]
    for table, found in zip((_issues, _contracts), kinds, strict=True):
        if found:
            table(page, found)
            page.line()
    counts = [f"{len(found)} {found[0].kind}{'s' * (len(found) > 1)}" for found in kinds if found]
    page.paragraph(", ".join(counts) or "no records", style="bold")
    if records:
        page.command("What one is about and what to do", f"compilefix explain {records[0].id}")
    return str(page)


def _issues(page: Page, records: Sequence[Record]) -> None:
    header = ["symptom", "stage", "devices", "affected"]
    rows = [_row(page, record) for record in records]
    layout = Rows(page, [r.id for r in records], header, rows)
    apart = layout.fits and not layout.above
    if not apart:
        rows = [row[:-1] for row in rows]
        layout = Rows(page, [r.id for r in records], header[:-1], rows)
    layout.head()
    for record, row in zip(records, rows, strict=True):
        layout.add(record.id, record.title, [row])
        if not apart:
            page.paragraph(_affected(record), indent=2, style="dim")


def _row(page: Page, record: Record) -> Row:
    known = record.known
    style = "yellow" if isinstance(known, Issue) and known.disputed else ""
    affected = known.affected_text().replace(" (earlier: unknown)", "")
    texts = (known.symptom.value, HEADERS[known.stage], ", ".join(known.devices), affected)
    return [(" " + page.safe(text), "" if i < 3 else style) for i, text in enumerate(texts)]


def _contracts(page: Page, records: Sequence[Record]) -> None:
    known = [record.known for record in records if isinstance(record.known, Contract)]
    rows = [_truth_row(page, contract) for contract in known]
    layout = Rows(page, [r.id for r in records], ["plain", "compiled"], rows, title="statement")
    layout.head()
    for record, contract, row in zip(records, known, rows, strict=True):
        layout.add(record.id, contract.statement, [row])
        if contract.differs:
            page.paragraph(_differs(contract), indent=2, style="dim")


def _truth_row(page: Page, known: Contract) -> Row:
    ended = all(span.fixed or span.last_affected for span in known.differs)
    compiled = ("differed" if ended else "differs") if known.differs else "the same"
    style = "green" if known.truth is Truth.HOLDS else "cyan"
    return [(" " + page.safe(known.truth_text()), style), (" " + compiled, "" if ended else "yellow")]


def _affected(record: Record) -> str:
    return f"affected: {record.known.affected_text()}"


def _differs(known: Contract) -> str:
    return f"compiled code differs: {known.affected_text()}"


def list_json(records: Sequence[Record]) -> str:
    """Return the records as JSON."""
    raw = {"schema": SCHEMA, "records": [_to_json(record) for record in records]}
    return dumps(raw)


def _to_json(record: Record) -> dict[str, Any]:
    known = dataclasses.asdict(record.known)
    return (
        {
            "id": record.id,
            "record": record.kind,
            "title": record.title,
            "why": record.why,
            "what_to_do": record.what_to_do,
            "path": str(record.path),
            "affected_text": record.known.affected_text(),
            **({"truth_text": record.known.truth_text()} if isinstance(record.known, Contract) else {}),
            "workaround": record.has_workaround,
        }
        | known
        | {"symptom": record.known.symptom.value}
    )


@dataclass(frozen=True, kw_only=True)
class Block:
    """One headed part of an explanation: prose, then points, then code."""

    heading: str
    text: str = ""
    points: tuple[str, ...] = ()
    code: str = ""
    loud: bool = False


def explain_text(record: Record, *, width: int | None = None, color: bool = False, measured: Measured) -> str:
    """Return all that is known of `record` for a terminal; code is highlighted with `color`."""
    page = Page(width, color=color)
    page.paragraph(record.title, lead=record.id, style="bold", lead_style="bold cyan")
    for block in _blocks(record, measured):
        page.line()
        page.line((page.safe(block.heading), "bold red" if block.loud else "bold"))
        if block.text:
            for line in page.fold(page.safe(block.text), page.width - 2):
                page.line((f"  {line}", ""))
        for point in block.points:
            what, command = _split(point)
            if command:
                page.command(what, command, indent=2)
            elif point.startswith("https://"):
                page.line((f"  {page.safe(point)}", "blue"))
            else:
                page.paragraph(point, indent=2)
        for code_line in _highlighted(block.code) if color else map(Text, block.code.splitlines()):
            page.show(Text("    ").append_text(code_line) if code_line.plain else code_line)
    return str(page)


def _highlighted(source: str) -> Sequence[Text]:
    from rich.syntax import Syntax

    text = Syntax(source, "python", theme="ansi_dark", background_color="default").highlight(source)
    text.rstrip()
    return list(text.split()) if source else []


def explain_markdown(record: Record, *, measured: Measured) -> str:
    """Return all that is known of `record` as GitHub-flavoured Markdown."""
    parts = [f"## {escape(record.id)}: {escape(record.title)}"]
    for block in _blocks(record, measured):
        parts.append(f"### {escape(block.heading)}")
        if block.text:
            parts.append(f"> **{escape(block.text)}**" if block.loud else escape(block.text))
        if block.points:
            parts.append("\n".join(f"- {_point(point)}" for point in block.points))
        if block.code:
            parts.append(fence(block.code, "python"))
    return "\n\n".join(parts) + "\n"


def _point(text: str) -> str:
    if text.startswith("https://"):
        return text
    what, command = _split(text)
    return f"{escape(what)}: {code(command)}" if command else escape(text)


def _split(point: str) -> tuple[str, str]:
    """Return the words and the command of a point; no command is an empty one."""
    what, colon, rest = point.partition(": compilefix ")
    return what, f"compilefix {rest}" if colon else ""


def _sentence(text: str) -> str:
    """Return `text` with a capital, unless it begins with a name out of code."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text


def _blocks(record: Record, measured: Measured) -> Iterator[Block]:
    known = record.known
    if isinstance(known, Issue) and known.disputed:
        yield Block(heading="Disputed: the popular claim is wrong", text=known.disputed, loud=True)
    if isinstance(known, Contract):
        loud = known.truth is Truth.DOES_NOT_HOLD or record.goes_wrong
        yield Block(heading=f"Told, and it {known.truth_text()}{_unless(known)}", text=known.statement, loud=loud)
    if record.why:
        yield Block(heading="Why", text=_sentence(record.why))
    todo = _sentence(record.what_to_do) or "Nothing is recorded."
    yield Block(heading="What to do", text=todo, code=record.settings_source)
    yield Block(heading="Facts", points=tuple(_facts(record)))
    yield Block(heading="Program", text=str(record.path), code=record.program_source)
    if claim := record.function_source("claim"):
        yield Block(heading="What it would do if the statement were true", code=claim)
    if record.workaround_source:
        yield Block(heading="Write instead", code=record.workaround_source)
    points = tuple(f"{slug}: {_by_word(cells)}" for slug, cells in measured.items())
    yield Block(heading="Measured", text="" if points else "not measured", points=points)
    if known.references:
        yield Block(heading="References", points=known.references)
    if known.related:
        yield Block(heading="Related", text=", ".join(known.related))
    yield Block(heading="Next", points=tuple(_next(record)))


def _unless(known: Contract) -> str:
    return "; compiled code differs" if known.differs else ""


def _facts(record: Record) -> Iterator[str]:
    known = record.known
    disputed = isinstance(known, Issue) and known.disputed
    if isinstance(known, Contract):
        earlier = f"; before {known.since} it {known.truth.opposite.value}" if known.since is not None else ""
        yield f"plain code: it {known.truth_text()}{earlier}"
        yield _differs(known) if known.differs else "compiled code: does the same"
    if record.goes_wrong:
        yield f"{'claimed symptom' if disputed else 'symptom'}: {known.symptom.value}"
        yield f"{'claimed stage' if disputed else 'first bad stage'}: {known.stage}"
        if not disputed:
            yield f"culprit: {known.culprit or 'not localised'}"
    if isinstance(known, Issue):
        yield _affected(record)
    yield f"devices: {', '.join(known.devices)}"
    lists = {"operators": known.ops, "needs": known.requires, "counts as a defect too": known.strict}
    yield from (f"{name}: {', '.join(values)}" for name, values in lists.items() if values)
    yield from (f"only with {name} = {value!r}" for name, value in known.config.items())
    if known.compile:
        yield f"compiled with {', '.join(f'{name}={value!r}' for name, value in known.compile.items())}"
    if known.caches == "warm":
        yield "only in a second process that finds the disk caches of the first"
    yield from (f"a healthy run has {name} = {value!r}" for name, value in known.expects.items())


def _by_word(cells: Mapping[str, str]) -> str:
    targets: dict[str, list[str]] = {}
    for target, word in cells.items():
        targets.setdefault(word, []).append(target)
    return "; ".join(f"{word} on {', '.join(names)}" for word, names in targets.items())


def _next(record: Record) -> Iterator[str]:
    tried = ", workaround included" if record.has_workaround else ""
    yield f"Try it on this torch{tried}: compilefix check {record.id}"
    if isinstance(record.known, Issue) and record.known.disputed is None:
        yield f'Only while torch needs it: with compilefix.workaround("{record.id}"): … (or as a decorator)'
        yield f"Every way around it, put to the proof: compilefix check {record.id} --workarounds"
    if record.known.workaround_config:
        yield "Set what stands under “What to do” before the first torch.compile"
    elif record.goes_wrong and not record.has_workaround:
        yield "No rewrite and no setting is recorded that avoids it"
    yield f"A report to send: compilefix check {record.id} --format markdown"
