"""
One unit of work: some records, on one release, on one device, run by the machine that this is called on.

A unit is data that travels: to a worker of a cluster as well as to the next function. Its reply is data, too.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compilefix import measured, registry
from compilefix.check import CheckReport
from compilefix.errors import Exit, HarnessError
from compilefix.issue import STAGES
from compilefix.outcome import INTERPRETED, Did, Result, Target
from compilefix.registry import Record
from compilefix.upgrade import environments
from compilefix.upgrade.environments import EnvironmentFailedError

Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the programs of a unit are run, on whichever machine."""

    jobs: int = 1
    timeout: float = 60.0
    """Seconds for one run."""

    seed: int = 0
    memory: str = "4GiB"
    gpu: str = "h100"
    grid: str = "forward"
    """Order of the programs of an interpreted kernel."""

    repros: tuple[str, ...] = ()
    """Folders of repros besides the shipped ones; they must exist on every worker."""

    targets: tuple[str, ...] | None = None
    """
    Targets to run; None: all stages on the unit's device and, on a CPU, the interpreted GPU besides. Empty: what a
    check runs where none is named.
    """

    cache: str | None = None
    """Folder of compiled C++ objects, with a folder in it for each release; None: the default one."""

    dynamic: bool = False
    workarounds: bool = True

    index_url: str | None = None
    python: str | None = None
    """Version of Python of environments that have yet to be installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Some records on one release and one device."""

    release: str | None
    """None: the torch of the Python that runs the unit."""

    digests: tuple[tuple[str, str], ...]
    """Ids of the records, each with the `measured.digest` of its repro."""

    device: str = "cpu"
    place: str | None = None
    """Resource that the worker must have; None: any."""

    settings: Settings = field(default_factory=Settings)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the records."""
        return tuple(id for id, _ in self.digests)

    def __str__(self) -> str:
        where = f" on {self.place}" if self.place else ""
        first, last = self.ids[0], self.ids[-1]
        span = first if first == last else f"{first} … {last}"
        return f"torch {self.release or 'as installed'}, {self.device}{where}: {len(self.ids)} records ({span})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of a unit: a report, or why the release does not run there."""

    report: CheckReport | None = None
    failed: str | None = None


def shards(records: Sequence[Record], size: int, device: str, settings: Settings) -> list[Unit]:
    """Split records into units of at most `size`, for the torch that is installed where they run."""
    digests = [(record.id, measured.digest(record)) for record in records]
    parts = [tuple(digests[i : i + size]) for i in range(0, len(digests), size)]
    return [Unit(release=None, digests=part, device=device, settings=settings) for part in parts]


def silent(text: str) -> None:
    """Announce nothing."""


def perform(unit: Unit, announce: Announce = silent) -> dict[str, Any]:
    """
    Run a unit here and return a `Reply` as JSON.

    What hangs or cannot be judged is run once more, alone: on a busy machine that is often no hang. Raises
    `HarnessError` where this machine's repros are not those of the unit, or the check itself fails.
    """
    _same_repros(unit)
    python = Path(sys.executable)
    if unit.release is not None:
        try:
            python = _python(unit.release, unit.settings, announce)
        except EnvironmentFailedError as error:
            return {"failed": error.reason}
    report = _check(python, unit, unit.ids, announce, resume=True)
    doubtful = tuple(result.id for result in report.results if _doubtful(result))
    if doubtful:
        announce(f"once more, alone: {', '.join(doubtful)}")
        again = _check(python, replace(unit, settings=replace(unit.settings, jobs=1)), doubtful, announce)
        second = {result.id: result for result in again.results}
        report = replace(report, results=tuple(second.get(r.id, r) for r in report.results))
    return {"report": report.to_json()}


def reply(raw: dict[str, Any]) -> Reply:
    """Read what `perform` returned."""
    if raw.get("failed"):
        return Reply(failed=raw["failed"])
    return Reply(report=CheckReport.from_json(raw["report"]))


@functools.cache
def _python(release: str, settings: Settings, announce: Announce) -> Path:
    found = environments.provide(release, announce=announce, index_url=settings.index_url, python=settings.python)
    return found.python


def _same_repros(unit: Unit) -> None:
    found = registry.discover(Path(folder) for folder in unit.settings.repros)
    here = {record.id: record for record in found.records if record.id in unit.ids}
    other = [id for id, digest in unit.digests if id not in here or measured.digest(here[id]) != digest]
    if other:
        raise HarnessError(f"this machine has other repros of {', '.join(other)}; install the same compilefix on it")


def _doubtful(result: Result) -> bool:
    """Tell whether a run may have come to nothing because the machine was busy."""
    return any(
        outcome.did in (Did.HANG, Did.UNRESOLVED)
        or (outcome.did is Did.UNSUPPORTED and "too large for the interpreter" in (outcome.reason or ""))
        for outcome in result.outcomes.values()
    )


def targets(device: str) -> tuple[Target, ...]:
    """Return what is measured on a device: every stage, and on a CPU also what Inductor compiles for a GPU."""
    stages = tuple(Target(backend, device) for backend in STAGES)
    return (*stages, Target("inductor", INTERPRETED)) if device == "cpu" else stages


def _check(python: Path, unit: Unit, ids: Sequence[str], announce: Announce, *, resume: bool = False) -> CheckReport:
    """Run ``compilefix check`` with another Python and this package's source, and return its report."""
    chosen = unit.settings
    with tempfile.TemporaryDirectory(prefix="compilefix-unit-") as scratch:
        output = Path(scratch) / "report.json"
        tied = ["-c", _TIED] if sys.platform == "linux" else []
        command = [str(python), *tied, "-m", "compilefix", "check", *ids, "--format", "json", "-o", str(output)]
        for target in chosen.targets if chosen.targets is not None else map(str, targets(unit.device)):
            command += ["--target", target]
        for folder in chosen.repros:
            command += ["--repros", folder]
        command += ["--fail-on", "never", "--jobs", str(chosen.jobs), "--timeout", f"{chosen.timeout:g}"]
        command += ["--seed", str(chosen.seed), "--memory", chosen.memory, "--gpu", chosen.gpu]
        command += ["--grid", chosen.grid]
        if chosen.cache is not None:
            cache = Path(chosen.cache) / (f"torch-{unit.release}" if unit.release is not None else "")
            command += ["--cache-dir", str(cache)]
        flags = {"--resume": resume, "--dynamic": chosen.dynamic, "--no-workarounds": not chosen.workarounds}
        command += [flag for flag, on in flags.items() if on]
        code, tail = _run(command, _environ(Path(scratch)), scratch, announce)
        if code == Exit.INTERRUPTED:
            raise KeyboardInterrupt
        if not output.is_file():
            raise HarnessError(f"{unit}: the check failed with exit code {code}: {tail}")
        return CheckReport.from_json(json.loads(output.read_text(encoding="utf-8")))


_TIED = (
    f"import ctypes, os, sys; ctypes.CDLL(None).prctl(1, {int(signal.SIGINT)}); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
"""Ties a check to the life of its caller (PR_SET_PDEATHSIG): a killed worker leaves none behind."""


def _environ(scratch: Path) -> dict[str, str]:
    """Return the environment in which another Python finds this package, and nothing else of this Python's."""
    source = scratch / "source"
    source.mkdir()
    package = Path(registry.__file__).parent
    (source / package.name).symlink_to(package)
    if registry.shipped_folder().parent != package:
        (source / "repros").symlink_to(registry.shipped_folder())
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("COMPILEFIX_", "PYTHON", "VIRTUAL_ENV"))}
    return kept | {"PYTHONPATH": str(source), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _run(command: Sequence[str], environ: dict[str, str], folder: str, announce: Announce) -> tuple[int, str]:
    """Run a check, announce its lines and return its exit code and the last of them."""
    process = subprocess.Popen(
        command,
        env=environ,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    tail: deque[str] = deque(maxlen=3)
    reader = threading.Thread(target=_read, args=(process, tail, announce), daemon=True)
    reader.start()
    try:
        while reader.is_alive():
            reader.join(0.2)
        return process.wait(), " / ".join(tail)
    except BaseException:
        process.send_signal(signal.SIGINT)  # it kills its own workers and keeps its journal
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise


def _read(process: subprocess.Popen[str], tail: deque[str], announce: Announce) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        tail.append(line.strip())
        announce(line.strip().removeprefix("compilefix: "))
