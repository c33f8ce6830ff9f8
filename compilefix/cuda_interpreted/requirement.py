"""Whether the target can run here, and what to install where it cannot. No torch."""

from __future__ import annotations

import re
import sys
from importlib import metadata, util

from packaging.requirements import Requirement
from packaging.version import Version

TRITON_OF_TORCH = {
    "2.6": "3.2.0",
    "2.7": "3.3.1",
    "2.8": "3.4.0",
    "2.9": "3.5.1",
    "2.10": "3.6.0",
    "2.11": "3.6.0",
    "2.12": "3.7.0",
    "2.13": "3.7.1",
    "2.14": "3.8.0",
    "2.15": "3.9.0",
}
"""Triton that a release of torch pins in its CUDA wheels; a CPU wheel pins none."""

OLDEST = Version("2.6")


def pinned_triton() -> str | None:
    """Return the requirement on Triton that fits the installed torch, such as ``triton==3.7.1``, or None."""
    try:
        distribution = metadata.distribution("torch")
    except metadata.PackageNotFoundError:
        return None
    for text in distribution.requires or ():
        requirement = Requirement(text)
        if requirement.name == "triton":
            return f"triton{requirement.specifier}"
    release = ".".join(Version(distribution.version).base_version.split(".")[:2])
    return f"triton=={TRITON_OF_TORCH[release]}" if release in TRITON_OF_TORCH else None


def trouble() -> str | None:
    """Return why the target cannot run in this Python, with the command that mends it, or None."""
    if sys.platform != "linux":
        return "CUDA without a GPU needs Linux: there is no Triton wheel for this system"
    try:
        torch = Version(metadata.version("torch"))
    except metadata.PackageNotFoundError:
        return "torch is not installed"
    if Version(torch.base_version) < OLDEST:
        return f"CUDA without a GPU needs torch {OLDEST} or newer"
    wanted = pinned_triton()
    absent = []
    if util.find_spec("triton") is None:
        if wanted is None:
            return f"Triton is not installed, and which release fits torch {torch} is not known"
        absent.append(wanted)
    elif wanted is not None and (unfit := _unfit(wanted)):
        return unfit
    if util.find_spec("numpy") is None:
        absent.append("numpy")
    if not absent:
        return None
    quoted = " ".join(f'"{name}"' if re.search(r"[<>~!,]", name) else name for name in absent)
    return f"needs Triton's interpreter; install it: {sys.executable} -m pip install --no-deps {quoted}"


def _unfit(wanted: str) -> str | None:
    requirement = Requirement(wanted)
    have = metadata.version("triton")
    fits = requirement.specifier.contains(Version(have).base_version, prereleases=True)
    near = any(Version(s.version).release[:2] == Version(have).release[:2] for s in requirement.specifier)
    if fits or near:
        return None
    command = f'{sys.executable} -m pip install --no-deps "{wanted}"'
    return f"Triton {have} does not fit this torch; install the one that does: {command}"
