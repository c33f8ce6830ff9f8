"""The whole report of an upgrade: the registry on both releases, and the user's own lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compilefix.registry import Registry
from compilefix.upgrade import matrix
from compilefix.upgrade.difference import Line, UpgradeReport, difference, releases, unmeasured


def report(
    before: str,
    after: str,
    found: Registry,
    paths: Sequence[Path] = (),
    *,
    device: str | None = None,
    target: str | None = None,
    jobs: int = 1,
) -> UpgradeReport:
    """
    Return what changes from `before` to `after`, and which lines under `paths` it concerns; imports no torch.

    Raises `UsageError` for a release or a target that is none, and for a path that does not exist.
    """
    before, after = releases(before, after)
    known = matrix.read(records=found.records)
    rows = difference(before, after, found.records, known, device=device, target=target)
    broken = [str(error) for error in found.broken]
    lines: tuple[Line, ...] = ()
    files = None
    if paths:
        from compilefix.upgrade.lines import lines as concerned

        lines, files, unread = concerned(paths, rows, found.records, before, after, jobs=jobs)
        broken += unread
    return UpgradeReport(
        before=before,
        after=after,
        rows=rows,
        lines=lines,
        files=files,
        target=target or device,
        unmeasured=unmeasured(known, before, after),
        broken=tuple(broken),
    )
