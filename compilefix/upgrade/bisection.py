"""In which release something broke, or was fixed: bisection over released wheels, with skips, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import platformdirs
from packaging.version import Version

from compilefix.errors import Exit

SCHEMA = 1


class Found(str, Enum):
    """What was found of one release."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It cannot be tested, or fails otherwise than what is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One release."""

    release: str
    found: Found
    by: str
    """``measured before``, ``run``, or ``run earlier`` and resumed."""

    why: str = ""
    seconds: float = 0.0
    environment: dict[str, str] = field(default_factory=dict)
    """torch, git hash, Python, Triton, compiler …, as far as they are known."""

    evidence: str = ""
    """What it printed or where it differs."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self) | {"found": self.found.value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Step:
        """Read what `to_json` wrote."""
        return cls(**dict(raw) | {"found": Found(raw["found"]), "environment": dict(raw["environment"])})


@dataclass(frozen=True, kw_only=True)
class BisectReport:
    """The result of one bisection."""

    subject: str
    """Id of a record, ``FILE:FUNC``, or the command."""

    command: str
    """The command line that does it again."""

    resume: str
    """The command line that continues, and runs nothing that is known already."""

    first: str
    last: str
    """The ends, oldest and newest."""

    find_fix: bool = False
    regress: str | None = None
    """Only this class of failure counts as bad."""

    steps: tuple[Step, ...] = ()
    """In the order in which they were made."""

    window: tuple[str, str] | None = None
    """Last release that is as the oldest, first one that is as the newest; None where nothing was found."""

    problem: str | None = None
    """Why there is no window."""

    warnings: tuple[str, ...] = ()
    source: str = ""
    """Where the list of releases comes from."""

    program: str = ""
    """The program, for a report upstream."""

    interrupted: bool = False

    @property
    def last_good(self) -> str | None:
        """Last good release before the first bad one; with `find_fix` the first good one after the last bad."""
        return self.window and self.window[1 if self.find_fix else 0]

    @property
    def first_bad(self) -> str | None:
        """First bad release; with `find_fix` the last bad one."""
        return self.window and self.window[0 if self.find_fix else 1]

    def step(self, release: str) -> Step | None:
        """Return what was found of `release`."""
        return next((step for step in self.steps if step.release == release), None)

    def skipped(self) -> tuple[Step, ...]:
        """Return the releases inside of the window that could not be tested."""
        if self.window is None:
            return ()
        low, high = map(Version, self.window)
        return tuple(s for s in self.steps if s.found is Found.SKIP and low < Version(s.release) < high)

    def exit_code(self) -> Exit:
        """Return 0 where the window was found, 4 where it was not, 130 where it was interrupted."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return Exit.EXPECTED if self.window is not None else Exit.INCONCLUSIVE

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; stable, see `SCHEMA`."""
        raw = {name: getattr(self, name) for name in self.__dataclass_fields__}
        raw |= {"schema": SCHEMA, "steps": [step.to_json() for step in self.steps], "warnings": list(self.warnings)}
        raw |= {"window": list(self.window) if self.window else None}
        return raw | {"last_good": self.last_good, "first_bad": self.first_bad}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> BisectReport:
        """Read what `to_json` wrote."""
        fields = {name: value for name, value in raw.items() if name in cls.__dataclass_fields__}
        fields |= {"steps": tuple(Step.from_json(s) for s in raw["steps"]), "warnings": tuple(raw["warnings"])}
        return cls(**fields | {"window": tuple(raw["window"]) if raw["window"] else None})


Test = Callable[[str], Step]


def folder() -> Path:
    """Return where unfinished bisections are kept."""
    return Path(platformdirs.user_state_dir("compilefix")) / "bisect"


class State:
    """What was found so far, on disk after every step; what `--resume` continues from."""

    def __init__(self, path: Path, key: str, *, resume: bool) -> None:
        self.path = path
        self._key = key
        self.steps: dict[str, Step] = {}
        if resume:
            self._load()

    def _load(self) -> None:
        try:
            raw = json.loads(self.path.read_text(encoding="utf-8"))
            if raw["schema"] == SCHEMA and raw["key"] == self._key:
                steps = [Step.from_json(step) for step in raw["steps"]]
                self.steps = {step.release: replace(step, by="run earlier") for step in steps}
        except (OSError, ValueError, KeyError, TypeError):
            self.steps = {}

    def add(self, step: Step) -> None:
        """Keep one step; it is on disk when this returns."""
        self.steps[step.release] = step
        self.path.parent.mkdir(parents=True, exist_ok=True)
        raw = {"schema": SCHEMA, "key": self._key, "steps": [s.to_json() for s in self.steps.values()]}
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.path)


class _Search:
    """The steps of one bisection."""

    def __init__(self, known: Callable[[str], Step | None], test: Test, state: State, announce: Callable[[str], None]):
        self._known, self._test, self._state, self._announce = known, test, state, announce
        self.steps: dict[str, Step] = {}

    def free(self, release: str) -> Step | None:
        """Return what is known of `release` without running anything."""
        step = self._state.steps.get(release) or self._known(release)
        if step is not None:
            self.steps[release] = step
        return step

    def of(self, release: str) -> Step:
        """Return what is known of `release`, running it where nothing is."""
        step = self.steps.get(release) or self.free(release)
        if step is None:
            step = self.steps[release] = self._test(release)
            self._state.add(step)
        because = f": {step.why}" if step.why else ""
        self._announce(f"torch {release} {step.found.value} ({step.by}){because}")
        return step


def bisect(
    releases: Sequence[str],
    *,
    known: Callable[[str], Step | None],
    test: Test,
    state: State,
    report: BisectReport,
    announce: Callable[[str], None],
) -> BisectReport:
    """
    Find where the outcome changes between the first and the last of `releases`, oldest first.

    Both ends come first and must differ: good then bad, or bad then good with `BisectReport.find_fix`. What `known`
    says of a release is taken; `test` runs the rest, the middle one of what is left each time, around those that it
    skips. `report` holds what is told beside the result.
    """
    search = _Search(known, test, state, announce)
    wanted = (Found.BAD, Found.GOOD) if report.find_fix else (Found.GOOD, Found.BAD)
    try:
        ends = search.of(releases[0]), search.of(releases[-1])
        problem = _ends(ends, wanted, find_fix=report.find_fix)
        if problem is not None:
            return replace(report, steps=tuple(search.steps.values()), problem=problem)
        low, high, warnings = _narrowed(releases, search, wanted)
        while (middle := _middle(releases, low, high, search)) is not None:
            found = search.of(releases[middle]).found
            if found is wanted[0]:
                low = middle
            elif found is wanted[1]:
                high = middle
    except KeyboardInterrupt:
        return replace(
            report, steps=tuple(search.steps.values()), interrupted=True, problem="interrupted; --resume continues"
        )
    return replace(
        report,
        steps=tuple(search.steps.values()),
        window=(releases[low], releases[high]),
        warnings=(*report.warnings, *warnings),
    )


def _ends(ends: tuple[Step, Step], wanted: tuple[Found, Found], *, find_fix: bool) -> str | None:
    """Return why the ends are nothing to search between."""
    for step in ends:
        if step.found is Found.SKIP:
            return f"torch {step.release} cannot be judged: {step.why}"
    if ends[0].found is ends[1].found:
        return f"both ends are {ends[0].found.value}: {ends[0].release} and {ends[1].release}"
    if ends[0].found is not wanted[0]:
        hint = "without --find-fix" if find_fix else "with --find-fix"
        return (
            f"torch {ends[0].release} is {ends[0].found.value} and {ends[1].release} {ends[1].found.value}: try {hint}"
        )
    return None


def _narrowed(
    releases: Sequence[str], search: _Search, wanted: tuple[Found, Found]
) -> tuple[int, int, tuple[str, ...]]:
    """Return the ends after all that is known without running, and a warning where that changes more than once."""
    free = {i: step.found for i, name in enumerate(releases) if (step := search.free(name)) is not None}
    old = [i for i, found in free.items() if found is wanted[0]] or [0]
    new = [i for i, found in free.items() if found is wanted[1]] or [len(releases) - 1]
    high = min((i for i in new if i > 0), default=len(releases) - 1)
    low = max((i for i in old if i < high), default=0)
    later = [releases[i] for i in old if i > high]
    if later:
        told = (
            f"{releases[high]} is {wanted[1].value}, but {', '.join(later)} {wanted[0].value} again: first change shown"
        )
        return low, high, (told,)
    return low, high, ()


def _middle(releases: Sequence[str], low: int, high: int, search: _Search) -> int | None:
    """Return the release to try next: of those between the ends that were not tried, the one nearest the middle."""
    left = [i for i in range(low + 1, high) if releases[i] not in search.steps]
    return min(left, key=lambda i: (abs(2 * i - low - high), i)) if left else None
