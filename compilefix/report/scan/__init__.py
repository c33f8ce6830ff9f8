"""Formats of `ScanReport`: one file a format, found by its name and imported only when chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilefix.report import formats

if TYPE_CHECKING:
    from compilefix.scan.finding import ScanReport

__all__ = ["FORMATS", "render"]

FORMATS = formats.find(__name__, __path__)
"""Format name to module name, by file name: a new format is one new file that defines ``render``."""


def render(name: str, report: ScanReport, *, notes: bool, width: int | None = None, color: bool = False) -> str:
    """
    Return `report` in the format called `name`, ending with a newline; with `notes`, all findings.

    `width` is that of the terminal that reads it, None where none does. Raises `UsageError` for an unknown format.
    """
    text: str = formats.load(FORMATS, name).render(report, notes=notes, width=width, color=color)
    return text
