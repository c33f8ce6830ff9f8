"""
Verbs as Python calls, for notebooks and scripts: each returns the report that the verb of the command line shows.

`compilefix.check` and `compilefix.upgrade` are rooms of the package, so the calls have names of their own. In a
notebook they show what is going on, and a notebook shows their results as pages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from compilefix import progress, registry
from compilefix.check import CheckReport
from compilefix.outcome import Target

if TYPE_CHECKING:
    from compilefix.upgrade.difference import UpgradeReport


def run_check(
    *ids: str,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    targets: Iterable[str] = (),
    repros: Iterable[str | Path] = (),
    jobs: int | None = None,
    timeout: float = 60.0,
    seed: int = 0,
) -> CheckReport:
    """
    Run the known defects on the installed torch, each in a process of its own, as ``compilefix check`` does.

    `ids`, `select` and `ignore` choose records and `targets` stages, in the words of the command line; without them
    all run. `repros` are folders with more records, `jobs` the runs side by side (None: one a core), `timeout` the
    seconds for one run.

    Raises:
        UsageError: an id, a term or a target that is unknown, or nothing is left to run.
        HarnessError: torch is missing or broken.

    """
    from compilefix import runner

    found = registry.discover(map(Path, repros))
    records = found.select(ids, tuple(select), tuple(ignore))
    options = runner.Options(
        targets=tuple(map(Target.parse, targets)), jobs=jobs or os.cpu_count() or 1, timeout=timeout, seed=seed
    )
    with progress.progress(sys.stderr, lambda: None, each=False) as watcher:
        return runner.check(records, watcher=watcher, options=options, broken=[str(error) for error in found.broken])


def compare_releases(
    before: str,
    after: str,
    *paths: str | Path,
    device: str | None = None,
    target: str | None = None,
    repros: Iterable[str | Path] = (),
) -> UpgradeReport:
    """
    Tell what changes from torch `before` to `after`, as ``compilefix upgrade`` does; nothing is run.

    `paths` are the user's sources, whose lines are held against it. Raises `UsageError` for a release, a device or a
    target that is none, and for a path that does not exist.
    """
    from compilefix.upgrade import reporting

    found = registry.discover(map(Path, repros))
    return reporting.report(before, after, found, [Path(path) for path in paths], device=device, target=target)
