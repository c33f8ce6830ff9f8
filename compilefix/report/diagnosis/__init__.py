"""Formats of `Diagnosis`: one file a format, found by its name and imported only when chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilefix.report import formats

if TYPE_CHECKING:
    from compilefix.diagnosis.result import Diagnosis

__all__ = ["FORMATS", "render"]

FORMATS = formats.find(__name__, __path__)
"""Format name to module name, by file name: a new format is one new file that defines ``render``."""


def render(name: str, diagnosis: Diagnosis, *, width: int | None = None, color: bool = False) -> str:
    """Return `diagnosis` in the format called `name`; raises `UsageError` for an unknown one."""
    text: str = formats.load(FORMATS, name).render(diagnosis, width=width, color=color)
    return text
