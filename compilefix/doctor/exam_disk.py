"""Is there room for what compiling writes?"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compilefix.doctor import folders
from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 55
SUBJECT = "disk"
LEAST = 1 << 30
"""Bytes: a precompiled header and the objects of one model."""


def examine(patient: Patient) -> Iterator[Finding]:
    """Look at the file systems of the caches and of the temporary folder."""
    wanted = [folders.inductor(patient), folders.own(), Path(tempfile.gettempdir())]
    places = {folders.existing(path).stat().st_dev: folders.existing(path) for path in reversed(wanted) if path}
    for place in places.values():
        usage = shutil.disk_usage(place)
        if not usage.total:
            continue  # a pseudo file system, which the exam of the caches complains about
        free, full = usage.free, usage.free < LEAST
        says = f"{folders.readable(free)} free at {place}"
        mend = f"du -xh --max-depth=2 {place} | sort -h | tail" if full else None
        yield Finding(subject=SUBJECT, state=State.PROBLEM if full else State.OK, says=says, mend=mend)
