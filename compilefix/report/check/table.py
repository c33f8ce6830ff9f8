"""The report for people: one row a record, its targets side by side, the first bad stage seen at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from compilefix.check import CheckReport
from compilefix.cure import Effect
from compilefix.outcome import BACKENDS, Did, Result, Verdict
from compilefix.report.interface import Help, Ladder, cause, ladders, next_steps, price, sections, summary
from compilefix.report.signs import CONTRADICTION, EFFECTS, HELPS, NOT_RUN, OUTCOMES, VERDICTS
from compilefix.report.table import HEADERS, Page, Row, Rows

_SHORT = {Verdict.DIFFER: "differs"}
"""Words for verdicts that would make the column too wide; the legend says what they stand for."""

_NOTES = {
    Did.NUMERICS: "numerics: differs from the reference, but is no further from float64 than that is: no defect",
    Did.MISSING_ERROR: "missing-error: the plain program raises, the compiled one does not",
}


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
        shape = CONTRADICTION if result.contradicts else VERDICTS[result.verdict]
        word = _SHORT.get(result.verdict, result.verdict.value)
        verdict = (f" {self.page.symbol(shape)} {word}", shape.color)
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
        shape = OUTCOMES[outcome.did] if outcome is not None else NOT_RUN
        symbol, word = self.page.symbol(shape), outcome.did.value if outcome is not None else "not run"
        first = backend == ladder.first_bad
        text = (self.page.safe("▸") if first else " ") + symbol
        style = f"bold {shape.color}" if first else shape.color
        return (f"{text} {word}" if self.density == "words" else text), style

    def _first_bad(self, ladder: Ladder) -> list[tuple[str, str]]:
        if self.density != "first bad":
            return []
        bad = ladder.first_bad
        return [(f" {HEADERS[bad]} {ladder.outcomes[bad].did.value}" if bad else "", "red")]

    def _help(self, help: Help) -> tuple[str, str]:
        if help is Help.NOT_NEEDED:
            return "", ""
        shape = HELPS[help]
        symbol = self.page.symbol(shape)
        return (f" {symbol}" if self.density == "symbols" else f" {symbol} {help.value}"), shape.color


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
            sign = EFFECTS[cure.effect]
            mark, style = page.symbol(sign), sign.color
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
        shapes = [(page.symbol(shape), did.value) for did, shape in OUTCOMES.items() if did in done]
        shapes += [(page.symbol(NOT_RUN), "not run")] * (None in done)
        lines.append(", ".join(f"{symbol}={word}" for symbol, word in shapes))
        lines.append(", ".join(f"{HEADERS[b][0].upper()}={b}" for b in matrix.backends))
    if matrix.density == "symbols" and helps:
        lines.append("W=workaround: " + ", ".join(f"{page.symbol(HELPS[h])}={h.value}" for h in Help if h in helps))
    if any(ladder.first_bad for ladder in found):
        lines.append(f"{page.safe('▸')} first stage that goes wrong")
    lines += [text for did, text in _NOTES.items() if did in done] + [*words]
    for line in lines:
        page.paragraph(line, style="dim")
    if lines:
        page.line()
