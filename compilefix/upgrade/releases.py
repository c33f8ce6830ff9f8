"""Which releases of torch there are: what the package index offers, else a list that ships with compilefix."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence

from packaging.version import InvalidVersion, Version

from compilefix.errors import UsageError
from compilefix.scan.releases import RELEASES


def offered(timeout: float = 60.0) -> tuple[tuple[str, ...], str]:
    """Return all final releases, oldest first, and in words where the list comes from."""
    pips = [[sys.executable, "-m", "pip"], *([found] for name in ("pip", "pip3") if (found := shutil.which(name)))]
    for pip in pips:
        try:
            done = subprocess.run(
                [*pip, "index", "versions", "torch"], capture_output=True, text=True, timeout=timeout, check=False
            )
        except (OSError, subprocess.SubprocessError):
            continue
        match = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
        if done.returncode == 0 and match:
            return _final(match[1].split(", ")), "the package index"
    return RELEASES, "the list that ships with compilefix; no package index answers"


def _final(names: Iterable[str]) -> tuple[str, ...]:
    found = set()
    for name in names:
        try:
            version = Version(name)
        except InvalidVersion:
            continue
        if not version.is_prerelease:
            found.add(Version(version.public))
    return tuple(str(version) for version in sorted(found))


def between(first: str, last: str, limited: Sequence[str] = ()) -> tuple[tuple[str, ...], str]:
    """
    Return the releases from `first` to `last`, both included and oldest first, and where the list comes from.

    `limited` leaves only those. Raises `UsageError` where `first` is not before `last`, and for a limit outside.
    """
    low, high = Version(first), Version(last)
    if low >= high:
        raise UsageError(f"{first} is not before {last}")
    if limited:
        outside = [name for name in limited if not low <= Version(name) <= high]
        if outside:
            raise UsageError(f"--releases: {', '.join(outside)} is not between {first} and {last}")
        names, source = tuple(limited), "--releases"
    else:
        names, source = offered()
    inside = {Version(name) for name in names if low < Version(name) < high}
    return (first, *map(str, sorted(inside)), last), source
