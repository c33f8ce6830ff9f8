"""The releases and builds on which a gate is evaluated, and ranges of releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from packaging.version import Version

from compilefix.scan.finding import Range

OLD = ("1.0.0", "1.4.0", "1.7.1", "1.8.1", "1.10.2", "1.11.0", "1.12.1", "1.13.1")
"""Stand for the 1.x releases, and are looked at only where one of them is supported."""

RELEASES = (
    "2.0.0",
    "2.0.1",
    "2.1.0",
    "2.1.1",
    "2.1.2",
    "2.2.0",
    "2.2.1",
    "2.2.2",
    "2.3.0",
    "2.3.1",
    "2.4.0",
    "2.4.1",
    "2.5.0",
    "2.5.1",
    "2.6.0",
    "2.7.0",
    "2.7.1",
    "2.8.0",
    "2.9.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.0",
    "2.12.1",
    "2.13.0",
    "2.14.0",
    "2.14.1",
    "2.15.0",
)
"""Releases on the package index, in order."""

COMING = tuple(f"2.{minor}.0" for minor in range(16, 25))
"""Releases to come, by which gates such as ``[:3] == "2.1"`` show themselves."""

NEXT_MAJOR = "3.0.0"


@dataclass(frozen=True)
class Build:
    """One torch that a gate may meet."""

    text: str
    """What ``torch.__version__`` says."""

    meta: bool = False
    """Built from Meta's own tree: without ``torch.version.git_version``."""

    @cached_property
    def version(self) -> Version:
        """The version as PEP 440 has it."""
        return Version(self.text)

    @cached_property
    def base(self) -> Version:
        """The release that this build is, or becomes."""
        return Version(self.version.base_version)


@cache
def builds(minimum: Version | None, named: tuple[str, ...] = ()) -> tuple[Build, ...]:
    """Return the plain releases to look at; `named` are versions in the source that may lie after the last one."""
    old = OLD if minimum is None or minimum < Version("2.0") else ()
    later = {v for v in named if Version(RELEASES[-1]) < Version(v) < Version(NEXT_MAJOR)}
    return tuple(Build(v) for v in sorted({*old, *RELEASES, *COMING, *later}, key=Version))


@cache
def local_builds() -> tuple[Build, ...]:
    """Return wheels with a local part, which is what upstream's own index carries."""
    return tuple(Build(f"{v}+cu128") for v in RELEASES)


@cache
def odd_builds() -> tuple[Build, ...]:
    """Return alphas, vendor builds, nightlies, release candidates and Meta's builds."""
    minors = [v for v in RELEASES if v.endswith(".0") and Version(v) >= Version("2.5")]
    suffixes = ("a0+git1234567", "a0+0e1f2a3.nv26.4", ".dev20260401+cu130", "rc1", "a0+fb")
    cpu = tuple(Build(f"{v}+cpu") for v in minors[-2:])
    return cpu + tuple(Build(v + s, meta=s.endswith("fb")) for v in minors for s in suffixes)


def ranges(truth: Sequence[tuple[Build, bool]]) -> tuple[Range, ...]:
    """Join neighbouring releases for which a gate is true into half-open ranges."""
    found: list[Range] = []
    start: str | None = None
    inside = False
    for position, (build, holds) in enumerate(truth):
        if holds and not inside:
            start, inside = (build.text if position else None), True
        elif not holds and inside:
            found.append((start, build.text))
            inside = False
    return (*found, (start, None)) if inside else tuple(found)


def within(build: Build, minimum: Version | None, maximum: Version | None) -> bool:
    """Tell whether a supported torch may be `build`; its pre-releases count with the release."""
    return (minimum is None or build.base >= minimum) and (maximum is None or build.base <= maximum)


def spell(spans: Sequence[Range]) -> str:
    """Return ranges in words."""
    if not spans:
        return "on no release"
    words = []
    for low, high in spans:
        if low is None and high is None:
            return "on every release"
        if low is None:
            words.append(f"before {high}")
        else:
            words.append(f"from {low}" + (f" to before {high}" if high else " on"))
    return ", ".join(words)
