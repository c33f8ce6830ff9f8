"""
Source scan: version gates, links to upstream issues and calls of affected ops, in files that are never executed.

A gate is evaluated on every release by an interpreter of its own, so its shape does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

from compilefix import registry
from compilefix.registry import Record
from compilefix.scan.finding import RULES, Finding, Rule, ScanReport

__all__ = ["RULES", "Finding", "Rule", "ScanReport", "scan"]


def scan(
    paths: Sequence[Path],
    *,
    minimum: Version | None,
    maximum: Version | None,
    records: Sequence[Record] | None = None,
    jobs: int = 1,
    bounded: bool = False,
) -> ScanReport:
    """
    Read all Python files under `paths` and return what concerns torch releases from `minimum` to `maximum` (inclusive).

    `minimum` None: any release from 1.0 on; `maximum` None: no upper bound. `records` default to the shipped ones.
    `bounded` says that `maximum` is a promise: what only a later release needs then counts as dead.
    Nothing is executed and torch is not imported. With `jobs` above 1, files are shared out to that many processes.
    Raises `UsageError` for a path that does not exist.
    """
    from compilefix.scan.files import discover, scan_files
    from compilefix.scan.knowledge import gather

    if records is None:
        records = registry.discover().records
    files = discover(paths)
    known = gather(records, minimum, maximum, bounded=bounded)
    findings, broken = scan_files(files, known, jobs)
    return ScanReport(
        findings=tuple(findings), files=len(files), broken=tuple(broken), minimum=minimum, maximum=maximum
    )
