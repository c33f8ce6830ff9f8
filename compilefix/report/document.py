"""A report as headed parts of items, for a terminal, as Markdown, as a page: what several reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from compilefix.report.interface import block, one_line
from compilefix.report.json import dumps
from compilefix.report.markdown import code, escape, fence
from compilefix.report.table import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry: a lead such as an id or a place, its text, and what belongs below it."""

    lead: str = ""
    text: str = ""
    below: tuple[tuple[str, str], ...] = ()
    """Label and text of each line below; an empty label is left out."""

    literal: bool = False
    """Whether the lead and the texts labelled ``run`` and ``instead`` are code."""

    printed: str = ""
    """Text of a program, shown as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A heading with its items."""

    heading: str
    style: str = ""
    items: tuple[Item, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Title, parts, and the sentence that sums it up."""

    title: str
    summary: str
    parts: tuple[Part, ...] = ()
    warnings: tuple[str, ...] = field(default_factory=tuple)
    commands: tuple[tuple[str, str], ...] = ()
    """What to do now: a sentence and the command."""


FORMATS = ("table", "json", "markdown", "html")
_CODE = ("run", "instead", "command")


class Told(Protocol):
    """A report that has a form for programs as well."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""


def render(document: Document, report: Told, format: str, *, width: int | None, color: bool) -> str:
    """Return `report`, which `document` tells, in one of `FORMATS`, ending with a newline."""
    match format:
        case "json":
            return dumps(report.to_json())
        case "markdown":
            return markdown(document)
        case "html":
            from compilefix.report import html  # needs jinja2 and pygments

            return html.render("document.html.j2", document=document, framed=False)
        case _:
            return text(document, width=width, color=color)


def text(document: Document, *, width: int | None, color: bool) -> str:
    """Return the document for a terminal of `width` columns, or of a hundred where none reads it."""
    page = Page(width, color=color)
    page.paragraph(document.title, style="bold")
    for warning in document.warnings:
        page.paragraph(warning, lead="note:", lead_style="yellow")
    for part in document.parts:
        page.line()
        page.paragraph(part.heading, style=f"bold {part.style}".strip())
        if part.note:
            page.paragraph(part.note, indent=2, style="dim")
        for item in part.items:
            page.paragraph(item.text, lead=item.lead, indent=2, lead_style="bold")
            for label, told in item.below:
                page.paragraph(f"{label}: {told}" if label else told, indent=4)
            for line in block(item.printed).splitlines() if item.printed else ():
                indent = len(line) - len(line.lstrip())
                page.line((" " * (6 + indent) + page.safe(line), "dim"))
    page.line()
    page.paragraph(document.summary, style="bold")
    for what, command in document.commands:
        page.command(what, command)
    return str(page)


def markdown(document: Document) -> str:
    """Return the document as GitHub-flavoured Markdown."""
    parts = [f"## {escape(document.title)}"]
    parts += [f"> {escape(warning)}" for warning in document.warnings]
    parts.append(escape(document.summary))
    for part in document.parts:
        parts.append(f"### {escape(part.heading)}")
        if part.note:
            parts.append(escape(part.note))
        parts += _items(part.items)
    parts += [f"{escape(what)}: {code(command)}" for what, command in document.commands]
    return "\n\n".join(parts) + "\n"


def _items(items: Sequence[Item]) -> Iterable[str]:
    lines: list[str] = []
    for item in items:
        lead = code(item.lead) if item.literal else f"**{escape(item.lead)}**"
        lines.append(f"- {lead} {escape(item.text)}".rstrip() if item.lead else f"- {escape(item.text)}")
        for label, told in item.below:
            shown = code(told) if label in _CODE and item.literal else escape(told)
            lines.append(f"  - {escape(label)}: {shown}" if label else f"  - {shown}")
        if item.printed:
            lines += [f"  {line}" for line in ("", *fence(block(item.printed)).splitlines(), "")]
    if lines:
        yield "\n".join(lines)


def plural(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its word."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def shorten(told: object, limit: int) -> str:
    """Return `told` on one line of at most `limit` characters."""
    return one_line(told, limit)
