"""The cache folders that compiling writes to, found without importing torch."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from importlib import metadata
from pathlib import Path

import platformdirs

from compilefix.doctor.patient import Patient


def inductor(patient: Patient) -> Path | None:
    """Return Inductor's cache folder, None where its name cannot be made because the user has none."""
    named = patient.variable("TORCHINDUCTOR_CACHE_DIR") or patient.said.get("inductor", {}).get("cache")
    if named:
        return Path(named)
    try:
        user = re.sub(r'[\\/:*?"<>|]', "_", getpass.getuser())
    except (KeyError, OSError):
        return None
    return Path(tempfile.gettempdir()) / f"torchinductor_{user}"


def triton(patient: Patient) -> Path:
    """Return Triton's cache folder."""
    named = patient.variable("TRITON_CACHE_DIR")
    home = Path(patient.variable("TRITON_HOME") or Path.home())
    return Path(named) if named else home / ".triton" / "cache"


def own() -> Path:
    """Return compilefix's own cache folder."""
    return Path(platformdirs.user_cache_dir("compilefix"))


def size(folder: Path, *, before: float | None = None) -> int:
    """Return the bytes of all files below `folder`, or of those written `before`; what vanishes is not counted."""
    total = 0
    for root, _, names in os.walk(folder, onerror=None):
        for name in names:
            try:
                found = Path(root, name).lstat()
            except OSError:
                continue
            total += found.st_size if before is None or found.st_mtime < before else 0
    return total


def installed_at() -> float | None:
    """Return when torch was installed, in seconds since the epoch; None where no record of it is kept."""
    try:
        found = metadata.distribution("torch")
        record = Path(str(found.locate_file(f"torch-{found.version}.dist-info"))) / "RECORD"
        return record.stat().st_mtime
    except (metadata.PackageNotFoundError, OSError):
        return None


def readable(count: int) -> str:
    """Return a number of bytes in the unit that people read."""
    amount, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.0f} {units[0]}" if units[0] == "B" else f"{amount:.1f} {units[0]}"


def existing(folder: Path) -> Path:
    """Return `folder`, or the nearest folder above it that exists."""
    return next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
