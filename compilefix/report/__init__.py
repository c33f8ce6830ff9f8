"""Report formats: one file a format, found by its name and imported only when chosen."""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from compilefix.check import CheckReport
from compilefix.errors import UsageError
from compilefix.report.interface import Format

__all__ = ["FORMATS", "Format", "render"]

_NO_FORMATS = (
    "bisection",
    "checkup",
    "comparison",
    "diagnosis",
    "difference",
    "document",
    "interface",
    "listing",
    "releases",
    "scan",
    "standing",
)

FORMATS: dict[str, str] = {
    module.name: f"{__name__}.{module.name}"
    for module in pkgutil.iter_modules(__path__)
    if module.name not in _NO_FORMATS
}
"""Format name to module name, by file name: a new format is one new file that defines ``render``."""


def render(name: str, report: CheckReport, *, width: int | None = None, color: bool = False) -> str:
    """
    Return `report` in the format called `name`, ending with a newline.

    `width` is that of the terminal that reads it, None where none does. Raises `UsageError` for an unknown format.
    """
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; one of {', '.join(FORMATS)}")
    module = cast(Format, importlib.import_module(FORMATS[name]))
    return module.render(report, width=width, color=color)
