"""Can the cache folders be written, and how large have they grown?"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compilefix.doctor import folders
from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 50
LARGE = 20 << 30
"""Bytes beyond which a cache is worth a note."""


def examine(patient: Patient) -> Iterator[Finding]:
    """Look at Inductor's, Triton's and compilefix's folders."""
    inductor = folders.inductor(patient)
    if inductor is None:
        yield Finding(
            subject="Inductor's cache",
            state=State.PROBLEM,
            says="this user id has no name, so torch cannot name its folder",
            mend="export TORCHINDUCTOR_CACHE_DIR=/tmp/torchinductor",
        )
    else:
        yield _folder("Inductor's cache", inductor, "TORCHINDUCTOR_CACHE_DIR")
    yield _folder("Triton's cache", folders.triton(patient), "TRITON_CACHE_DIR")
    yield _folder("compilefix's cache", folders.own(), "XDG_CACHE_HOME")


def _folder(subject: str, folder: Path, variable: str) -> Finding:
    if why := _unwritable(folder):
        mend = f"export {variable}=$(mktemp -d)"
        return Finding(subject=subject, state=State.PROBLEM, says=f"{folder} cannot be written: {why}", mend=mend)
    if not folder.exists():
        return Finding(subject=subject, state=State.OK, says=f"{folder}, not used yet")
    size = folders.size(folder)
    large = size > LARGE
    return Finding(
        subject=subject,
        state=State.NOTE if large else State.OK,
        says=f"{folder}, {folders.readable(size)}",
        mend=f"rm -r {shlex.quote(str(folder))}" if large else None,
    )


def _unwritable(folder: Path) -> str | None:
    where = folders.existing(folder)
    try:
        with tempfile.TemporaryFile(dir=where):
            return None
    except OSError as error:
        return os.strerror(error.errno) if error.errno else str(error)
