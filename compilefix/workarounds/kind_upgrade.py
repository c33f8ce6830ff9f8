"""A release without the defect."""

from __future__ import annotations

from packaging.version import Version

from compilefix import environment
from compilefix.issue import Issue
from compilefix.registry import Record
from compilefix.workarounds.interface import Nothing

WIDTH = 9


def release(record: Record) -> str | None:
    """Return the first release behind this torch that is known to be good, or None."""
    if not isinstance(record.known, Issue):
        return None
    here = Version(Version(environment.facts()["torch"] or "0").public)
    later = sorted(
        {span.fixed for span in record.known.affected if span.fixed and Version(span.fixed) > here}, key=Version
    )
    return later[0] if later else None


def offers(record: Record) -> str | None:
    """Name the release to upgrade to; it cannot be applied in a scope."""
    fixed = release(record)
    return f"torch {fixed}" if fixed else None


def scope(record: Record) -> Nothing:
    """Return a scope that changes nothing: an upgrade is a hint."""
    return Nothing()
