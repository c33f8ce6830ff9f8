"""Formats of a source scan: one file a format, found by its name and imported only when chosen."""

from __future__ import annotations

import importlib
import pkgutil

from compilefix.errors import UsageError
from compilefix.scan.finding import ScanReport

__all__ = ["FORMATS", "render"]

FORMATS: dict[str, str] = {m.name: f"{__name__}.{m.name}" for m in pkgutil.iter_modules(__path__)}
"""Format name to module name: a new format is one new file that defines ``render``."""


def render(name: str, report: ScanReport, *, notes: bool, width: int | None = None, color: bool = False) -> str:
    """
    Return `report` in the format called `name`, ending with a newline; with `notes`, all findings.

    `width` is that of the terminal that reads it, None where none does. Raises `UsageError` for an unknown format.
    """
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; one of {', '.join(FORMATS)}")
    text: str = importlib.import_module(FORMATS[name]).render(report, notes=notes, width=width, color=color)
    return text
