"""The table of ``doctor`` for people."""

from __future__ import annotations

from compilefix.doctor.checkup import Checkup, State
from compilefix.report.table import Page, Rows

SIGNS = {State.OK: "green", State.PROBLEM: "red", State.NOTE: "yellow", State.NOT_MEASURED: ""}


def render(checkup: Checkup, *, width: int | None, color: bool) -> str:
    """Return one line a finding, and below each problem the command that mends it."""
    page = Page(width, color=color)
    cells = [[(f" {finding.state.value}", SIGNS[finding.state])] for finding in checkup.findings]
    layout = Rows(page, [finding.subject for finding in checkup.findings], [""], cells)
    for finding, cell in zip(checkup.findings, cells, strict=True):
        layout.add(finding.subject, finding.says, [cell])
        if finding.mend:
            page.paragraph(f"mend it: {finding.mend}", indent=4, style="bold")
    count = len(checkup.problems)
    said = {0: "nothing in the way of torch.compile", 1: "1 problem"}.get(count, f"{count} problems")
    page.line()
    page.paragraph(f"torch {checkup.torch or 'does not import'}, {checkup.python}: {said}", style="bold")
    return str(page)
