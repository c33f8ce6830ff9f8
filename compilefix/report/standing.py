"""The table of ``status`` for people."""

from __future__ import annotations

from compilefix.report.table import Page, Rows
from compilefix.standing import Row, Status


def render(status: Status, *, width: int | None, color: bool, stale_only: bool = False) -> str:
    """Return one line an op and a workaround; with `stale_only`, those that are asked for and not needed."""
    page = Page(width, color=color)
    chosen = status.stale if stale_only else status.rows
    for kind, title in (("op", "Drop-in ops"), ("workaround", "Workarounds")):
        rows = [row for row in chosen if row.kind == kind]
        if rows:
            _block(page, title, rows)
    for row in status.stale:
        page.paragraph(row.stale or "", lead=f"stale: {row.subject}", lead_style="yellow")
        for place in row.places:
            page.paragraph(place, indent=2)
    on = sum(row.on for row in status.rows)
    measured = f"measured here on {status.measured}" if status.measured else "not measured here (compilefix probe)"
    page.paragraph(
        f"torch {status.torch}: {on} of {len(status.rows)} on, {len(status.stale)} stale; {measured}", style="bold"
    )
    return str(page)


def _block(page: Page, title: str, rows: list[Row]) -> None:
    page.line((title, "bold"))
    cells = [[(f" {'on' if r.on else 'off'}", "yellow" if r.on else "green"), (f" {r.by}", "")] for r in rows]
    layout = Rows(page, [r.subject for r in rows], ["", "who said so"], cells)
    layout.head()
    for row, cell in zip(rows, cells, strict=True):
        told = f"{row.does}; {row.why}" if row.does and row.on else row.why
        layout.add(row.subject, told, [cell])
    page.line()
