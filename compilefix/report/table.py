"""The report for people: one row a record, its targets side by side, the first bad stage seen at a glance."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from compilefix.check import CheckReport
from compilefix.cure import Effect
from compilefix.outcome import BACKENDS, Did, Result, Verdict
from compilefix.report.interface import (
    Help,
    Ladder,
    cause,
    ladders,
    next_steps,
    one_line,
    price,
    sections,
    summary,
    unicode_output,
)

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
_SYMBOLS = {
    Did.OK: ("✔", "+", "green"),
    Did.NUMERICS: ("≈", "~", "yellow"),
    Did.MISMATCH: ("✘", "x", "red"),
    Did.ERROR: ("!", "!", "red"),
    Did.MISSING_ERROR: ("∅", "0", "red"),
    Did.CRASH: ("†", "C", "red"),
    Did.HANG: ("∞", "H", "red"),
    Did.UNSUPPORTED: ("–", "-", "dim"),
    Did.UNRESOLVED: ("?", "?", "magenta"),
}
_NOT_RUN = ("·", ".", "dim")
_VERDICTS = {
    Verdict.REPRODUCES: ("●", "*", "yellow"),
    Verdict.DIFFER: ("≠", "#", "yellow"),
    Verdict.DOES_NOT_HOLD: ("○", "o", "cyan"),
    Verdict.HOLDS: ("✔", "+", "green"),
    Verdict.CLEAR: ("✔", "+", "green"),
    Verdict.UNSUPPORTED: ("–", "-", "dim"),
    Verdict.UNRESOLVED: ("?", "?", "magenta"),
}
_CONTRADICTION = ("✘", "x", "bold red")
_SHORT = {Verdict.DIFFER: "differs"}
"""Words for verdicts that would make the column too wide; the legend says what they stand for."""

_HELPS = {
    Help.WORKS: ("✔", "+", "green"),
    Help.PARTLY: ("≈", "~", "yellow"),
    Help.NO_HELP: ("✘", "x", "red"),
    Help.UNCLEAR: ("?", "?", "magenta"),
    Help.NONE: ("–", "-", "dim"),
    Help.NOT_RUN: _NOT_RUN,
}
_EFFECTS = {
    Effect.CURES: ("✔", "+", "green"),
    Effect.DOES_NOT_CURE: ("✘", "x", "red"),
    Effect.WORSE: ("✘", "X", "bold red"),
    Effect.NOT_NEEDED: ("–", "-", "dim"),
    Effect.UNCLEAR: ("?", "?", "magenta"),
}
_NOTES = {
    Did.NUMERICS: "numerics: differs from the reference, but is no further from float64 than that is: no defect",
    Did.MISSING_ERROR: "missing-error: the plain program raises, the compiled one does not",
}
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
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
        )

    def safe(self, text: object) -> str:
        """Return `text` on one line of characters that the terminal has."""
        line = one_line(text)
        return line if self.unicode else line.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")

    def symbol(self, pair: tuple[str, str, str]) -> str:
        """Return the symbol of a (Unicode, ASCII, style) triple."""
        return pair[0] if self.unicode else pair[1]

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


class Matrix:
    """The cells of all records, in one of three densities."""

    def __init__(self, page: Page, report: CheckReport) -> None:
        self.page = page
        self.ladders = {result.id: ladders(result) for result in report.results}
        every = [ladder for found in self.ladders.values() for ladder in found]
        self.backends = [b for b in BACKENDS if any(b in ladder.outcomes for ladder in every)]
        self.labelled = any(ladder.label != "cpu" for ladder in every)
        for self.density in ("words", "first bad", "symbols"):
            cells = [row for result in report.results for row in self.rows(result)]
            self.layout = Rows(page, self.ladders, self.header, cells)
            if self.layout.fits:
                break

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        names = [HEADERS[b] if self.density == "words" else HEADERS[b][0].upper() for b in self.backends]
        middle = ["first bad"] if self.density == "first bad" else []
        last = "W" if self.density == "symbols" else "workaround"
        return [*(["on"] if self.labelled else []), *names, *middle, last, "verdict"]

    def rows(self, result: Result) -> list[Row]:
        """Return one row of cells for each ladder of `result`."""
        shape = _CONTRADICTION if result.contradicts else _VERDICTS[result.verdict]
        word = _SHORT.get(result.verdict, result.verdict.value)
        verdict = (f" {self.page.symbol(shape)} {word}", shape[2])
        on = [("", "")] * self.labelled
        middle = [("", "")] * (self.density == "first bad")
        rows: list[Row] = []
        for ladder in self.ladders[result.id]:
            label = [(f" {ladder.label}", "")] * self.labelled
            cells = [self._cell(ladder, backend) for backend in self.backends]
            rows.append([*label, *cells, *self._first_bad(ladder), self._help(ladder.help), ("", "")])
        rows = rows or [[*on, *(("", "") for _ in self.backends), *middle, ("", ""), ("", "")]]
        return [[*rows[0][:-1], verdict], *rows[1:]]

    def _cell(self, ladder: Ladder, backend: str) -> tuple[str, str]:
        outcome = ladder.outcomes.get(backend)
        shape = _SYMBOLS[outcome.did] if outcome is not None else _NOT_RUN
        symbol, word = self.page.symbol(shape), outcome.did.value if outcome is not None else "not run"
        first = backend == ladder.first_bad
        text = (self.page.safe("▸") if first else " ") + symbol
        style = f"bold {shape[2]}" if first else shape[2]
        return (f"{text} {word}" if self.density == "words" else text), style

    def _first_bad(self, ladder: Ladder) -> list[tuple[str, str]]:
        if self.density != "first bad":
            return []
        bad = ladder.first_bad
        return [(f" {HEADERS[bad]} {ladder.outcomes[bad].did.value}" if bad else "", "red")]

    def _help(self, help: Help) -> tuple[str, str]:
        if help is Help.NOT_NEEDED:
            return "", ""
        shape = _HELPS[help]
        symbol = self.page.symbol(shape)
        return (f" {symbol}" if self.density == "symbols" else f" {symbol} {help.value}"), shape[2]


def render(report: CheckReport, *, width: int | None, color: bool) -> str:
    """Return the report as a table of at most `width` columns with its reasons, legend and summary below."""
    page = Page(width, color=color)
    if report.results:
        matrix = Matrix(page, report)
        matrix.layout.head()
        for result in report.results:
            matrix.layout.add(result.id, result.label, matrix.rows(result))
        page.line()
        verdicts = {result.verdict for result in report.results}
        _legend(page, matrix, [f"{word}: {v.value}" for v, word in _SHORT.items() if v in verdicts])
    if report.cures:
        _cures(page, report)
    for title, style, lines in sections(report):
        page.line((title, f"bold {style}"))
        for lead, text in lines:
            page.paragraph(text, lead=lead, indent=2, lead_style="bold")
        page.line()
    page.paragraph(summary(report), style="bold")
    if report.interrupted:
        page.paragraph("Interrupted: the same command with --resume continues.")
    for text, command in next_steps(report):
        page.command(text, command)
    return str(page)


def _cures(page: Page, report: CheckReport) -> None:
    page.line(("Workarounds, put to the proof", "bold"))
    for id in dict.fromkeys(cure.id for cure in report.cures):
        page.line(("  " + page.safe(id), "bold"))
        for cure in (c for c in report.cures if c.id == id):
            symbol, ascii, style = _EFFECTS[cure.effect]
            mark = symbol if page.unicode else ascii
            told = f"{cure.what} on {cure.target}" + (f": {price(cure)}" if price(cure) else "")
            if cure.effect in (Effect.DOES_NOT_CURE, Effect.WORSE, Effect.UNCLEAR):
                told += f": {cure.outcome.did.value}: {cause(cure.outcome)}".removesuffix(": ")
            page.paragraph(told, lead=f"{mark} {cure.effect.value:<13} {cure.kind:<8}", indent=4, lead_style=style)
    page.line()


def _legend(page: Page, matrix: Matrix, words: Sequence[str]) -> None:
    found = [ladder for each in matrix.ladders.values() for ladder in each]
    done = [ladder.outcomes[b].did if b in ladder.outcomes else None for ladder in found for b in matrix.backends]
    helps = {ladder.help for ladder in found} - {Help.NOT_NEEDED}
    lines = []
    if matrix.density == "words":
        lines += ["decomp: aot_eager_decomp_partition"] * ("aot_eager_decomp_partition" in matrix.backends)
    else:
        shapes = [(page.symbol(shape), did.value) for did, shape in _SYMBOLS.items() if did in done]
        shapes += [(page.symbol(_NOT_RUN), "not run")] * (None in done)
        lines.append(", ".join(f"{symbol}={word}" for symbol, word in shapes))
        lines.append(", ".join(f"{HEADERS[b][0].upper()}={b}" for b in matrix.backends))
    if matrix.density == "symbols" and helps:
        lines.append("W=workaround: " + ", ".join(f"{page.symbol(_HELPS[h])}={h.value}" for h in Help if h in helps))
    if any(ladder.first_bad for ladder in found):
        lines.append(f"{page.safe('▸')} first stage that goes wrong")
    lines += [text for did, text in _NOTES.items() if did in done] + [*words]
    for line in lines:
        page.paragraph(line, style="dim")
    if lines:
        page.line()
