"""Formats of `UpgradeReport`: one file a format, found by its name and imported only when chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilefix.report import formats

if TYPE_CHECKING:
    from compilefix.upgrade.difference import UpgradeReport

__all__ = ["FORMATS", "render"]

FORMATS = formats.find(__name__, __path__)
"""Format name to module name, by file name: a new format is one new file that defines ``render``."""


def render(name: str, report: UpgradeReport, *, width: int | None = None, color: bool = False) -> str:
    """Return `report` in the format called `name`; raises `UsageError` for an unknown one."""
    text: str = formats.load(FORMATS, name).render(report, width=width, color=color)
    return text
