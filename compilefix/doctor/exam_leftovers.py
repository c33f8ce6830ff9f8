"""Is there something in the caches that nobody can use any more: cut off by a killed compile, or of another torch?"""

from __future__ import annotations

import os
import shlex
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from compilefix.doctor import folders
from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 52
INDUCTOR = "Inductor's cache"
OWN = "compilefix's cache"
LARGE = 256 << 20
"""Bytes beyond which old entries are worth a note."""

MANY = 5
"""Files that a command names one by one."""

WRITING = 60.0
"""Seconds in which a linker may still be at work on a file."""


def examine(patient: Patient) -> Iterator[Finding]:
    """Look for objects that cannot be loaded, and for what was written by a torch that is not here any more."""
    inductor = folders.inductor(patient)
    if inductor is not None and inductor.is_dir():
        yield from _cut_off(INDUCTOR, inductor)
        yield from _older(inductor)
    yield from _cut_off(OWN, folders.own() / f"torch-{patient.torch}" / "inductor")
    yield from _of_other_releases(patient)


def _cut_off(subject: str, folder: Path) -> Iterator[Finding]:
    """Inductor loads what is there, so an object that a killed compile left breaks every later run."""
    bad = [path for path in sorted(folder.glob("*/*.so")) if not _whole(path)]
    if bad:
        says = f"{len(bad)} compiled object{'s' * (len(bad) > 1)} cut off, by a killed compile or a full disk: {bad[0]}"
        targets = map(str, bad) if len(bad) <= MANY else [str(folder)]
        mend = f"rm -r {shlex.join(targets)}"
        yield Finding(subject=subject, state=State.PROBLEM, says=says, mend=mend)


def _whole(path: Path) -> bool:
    """Tell whether a shared object is as long as its header says; one that vanishes or is just being written passes."""
    try:
        with path.open("rb") as file:
            head, about = file.read(64), os.fstat(file.fileno())
    except OSError:
        return True
    size = about.st_size
    if time.time() - about.st_mtime < WRITING:
        return True
    if sys.platform != "linux" or head[4:6] != b"\x02\x01":  # 64 bits, little endian
        return size > 0
    if len(head) < 64:
        return False
    (table,) = struct.unpack_from("<Q", head, 0x28)
    entry, count = struct.unpack_from("<HH", head, 0x3A)
    return bool(size >= table + entry * count)


def _older(folder: Path) -> Iterator[Finding]:
    installed = folders.installed_at()
    if installed is None:
        return
    size = folders.size(folder, before=installed)
    if size > LARGE:
        says = f"{folders.readable(size)} of it were written before this torch was installed"
        mend = f"rm -r {shlex.quote(str(folder))}"
        yield Finding(subject=INDUCTOR, state=State.NOTE, says=says, mend=mend)


def _of_other_releases(patient: Patient) -> Iterator[Finding]:
    """Say which of compilefix's folders belong to a torch that is not installed any more."""
    if patient.torch is None or not folders.own().is_dir():
        return
    current = f"torch-{patient.torch}"
    old = [p for p in sorted(folders.own().glob("torch-*")) if p.is_dir() and p.name != current]
    if old:
        size = folders.readable(sum(folders.size(p) for p in old))
        names = ", ".join(p.name for p in old)
        mend = "rm -r " + " ".join(shlex.quote(str(p)) for p in old)
        yield Finding(subject=OWN, state=State.NOTE, says=f"of other releases: {names} ({size})", mend=mend)
