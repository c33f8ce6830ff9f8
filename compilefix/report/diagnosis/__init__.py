"""Formats of one diagnosis: one file a format, found by its name and imported only when chosen."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol, cast

from compilefix.diagnosis.result import Diagnosis
from compilefix.errors import UsageError

__all__ = ["FORMATS", "render"]

FORMATS: dict[str, str] = {m.name: f"{__name__}.{m.name}" for m in pkgutil.iter_modules(__path__)}
"""Format name to module name, by file name."""


class Format(Protocol):
    """What a module of this package defines."""

    def render(self, diagnosis: Diagnosis, *, width: int | None, color: bool) -> str:
        """Return `diagnosis` as text that ends with a newline."""


def render(name: str, diagnosis: Diagnosis, *, width: int | None = None, color: bool = False) -> str:
    """Return `diagnosis` in the format called `name`; raises `UsageError` for an unknown one."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; one of {', '.join(FORMATS)}")
    return cast(Format, importlib.import_module(FORMATS[name])).render(diagnosis, width=width, color=color)
