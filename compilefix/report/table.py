"""What reports for terminals are made of: folded lines, and rows of an id, cells and a title."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from compilefix.outcome import BACKENDS
from compilefix.report.interface import one_line, unicode_output

if TYPE_CHECKING:
    from compilefix.report.signs import Sign

Row = Sequence[tuple[str, str]]
"""Cells of one line, each with its style."""

DEFAULT_WIDTH = 100
"""Where no terminal reads the report."""

LEAST_WIDTH = 50
TITLE_COLUMN = 40
"""Cells that must be left for titles to stand beside the row and not below it."""
HANG = 14
"""Longest lead below whose text later lines hang."""

HEADERS = dict(zip(BACKENDS, ("reference", "eager", "aot_eager", "decomp", "inductor"), strict=True))
"""Names of the backends, short enough to head a column."""

_ASCII = str.maketrans({"·": "|", "…": "...", "–": "-", "—": "-", "“": '"', "”": '"', "‘": "'", "’": "'", "▸": ">"})


class Page:
    """Lines of at most `width` terminal cells, in ASCII where the terminal has nothing else."""

    def __init__(self, width: int | None, *, color: bool) -> None:
        self.width = max(width or DEFAULT_WIDTH, LEAST_WIDTH)
        self.unicode = unicode_output()
        self._console = Console(
            file=io.StringIO(),
            width=self.width,
            force_terminal=color,
            force_jupyter=False,  # or a kernel gets the lines, and not the file
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
        )

    def safe(self, text: object) -> str:
        """Return `text` on one line of characters that the terminal has."""
        line = one_line(text)
        return line if self.unicode else line.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")

    def symbol(self, sign: Sign) -> str:
        """Return the symbol of `sign` that the terminal has."""
        return sign.symbol if self.unicode else sign.ascii

    def fold(self, text: str, width: int, *, most: int = 0, hang: int = 0) -> list[str]:
        """
        Return `text`, which is safe, on lines of at most `width` cells, all but the first `hang` cells shorter.

        With `most` the lines after that many are cut, with an ellipsis.
        """
        first = self._wrap(text, width)[0]
        rest = text[len(first) :].lstrip()
        lines = [first, *(self._wrap(rest, width - hang) if rest else [])]
        if most and len(lines) > most:
            last, dots = Text(" ".join(lines[most - 1 : most + 1])), self.safe("…")
            last.truncate(width - hang - len(dots))
            lines = [*lines[: most - 1], last.plain.rstrip() + dots]
        return lines

    def _wrap(self, text: str, width: int) -> list[str]:
        return [line.plain.rstrip() for line in Text(text).wrap(self._console, width, overflow="fold")] or [""]

    def line(self, *parts: tuple[str, str]) -> None:
        """Add one line of (text, style) parts."""
        text = Text()
        for part, style in parts:
            text.append(part, style)
        text.rstrip()
        self.show(text)

    def show(self, text: Text) -> None:
        """Add one line as it is, however long."""
        self._console.print(text, soft_wrap=True, highlight=False)

    def paragraph(self, text: str, *, lead: str = "", indent: int = 0, style: str = "", lead_style: str = "") -> None:
        """Add `text` behind `lead`, folded; later lines hang below the text, or two cells in behind a long lead."""
        lead = f"{self.safe(lead)}  " if lead else ""
        hang = cell_len(lead) if 0 < cell_len(lead) <= HANG else 2
        first, *rest = self.fold(lead + self.safe(text), self.width - indent, hang=hang)
        self.line((" " * indent, ""), (first[: len(lead)], lead_style), (first[len(lead) :], style))
        for line in rest:
            self.line((" " * (indent + hang) + line, style))

    def command(self, text: str, command: str, indent: int = 0) -> None:
        """Add a command behind the sentence that says what it is for, on a line of its own where both do not fit."""
        if len(f"{text}: {command}") <= self.width - indent:
            self.paragraph(f"{text}: {command}", indent=indent)
        else:
            self.paragraph(f"{text}:", indent=indent)
            self.paragraph(command, indent=indent + 2)

    def __str__(self) -> str:
        file = self._console.file
        assert isinstance(file, io.StringIO)
        return file.getvalue()


def pad(text: str, width: int) -> str:
    """Return `text` padded to `width` terminal cells."""
    return text + " " * (width - cell_len(text))


class Rows:
    """
    Rows of an id, fixed columns and a title that stands beside the row, below it, or on a line above with the id.

    Columns are one cell apart, and the first cell of each is kept for a mark.
    """

    def __init__(
        self, page: Page, ids: Iterable[str], header: Sequence[str], cells: Iterable[Row], title: str = "title"
    ) -> None:
        self.page = page
        self.title = title
        self.header = [f" {name}" for name in header]
        columns = zip(self.header, *([text for text, _ in row] for row in cells), strict=True)
        self.widths = [max(map(cell_len, column)) for column in columns]
        longest = max((cell_len(page.safe(id)) for id in ids), default=2)
        self.room = page.width - sum(self.widths) - len(self.widths)
        self.beside = self.room - longest - 2 >= TITLE_COLUMN
        self.above = not self.beside and self.room < min(longest, 12)
        self.id_width = 1 if self.above else max(min(longest, self.room), 2)
        self.title_width = self.room - longest - 2 if self.beside else page.width - 2

    @property
    def fits(self) -> bool:
        """Tell whether the fixed columns fit the page."""
        return self.room >= 1

    def head(self) -> None:
        """Add the line of column names and a rule."""
        line = [pad("" if self.above else "id", self.id_width), *map(pad, self.header, self.widths)]
        self.page.line((" ".join(line) + (f"  {self.title}" if self.beside else ""), "bold"))
        self.page.line((("─" if self.page.unicode else "-") * self.page.width, "dim"))

    def add(self, id: str, title: str, rows: Sequence[Row]) -> None:
        """Add one record with one or more rows of cells."""
        page, id = self.page, self.page.safe(id)
        beside = page.fold(page.safe(title), self.title_width, most=3) if self.beside else []
        if self.above:
            page.paragraph(title, lead=id, lead_style="bold")
        elif cell_len(id) > self.id_width:
            page.line((id, "bold"))
        lead = id if not self.above and cell_len(id) <= self.id_width else ""
        for i in range(max(len(rows), len(beside))):
            cells = rows[i] if i < len(rows) else [("", "")] * len(self.widths)
            parts = [(pad(lead if i == 0 else "", self.id_width), "bold")]
            for (text, style), width in zip(cells, self.widths, strict=True):
                parts += [(" ", ""), (pad(text, width), style)]
            page.line(*parts, ("  " + beside[i] if i < len(beside) else "", ""))
        if not self.beside and not self.above:
            for line in page.fold(page.safe(title), self.title_width, most=2):
                page.line((f"  {line}", ""))
