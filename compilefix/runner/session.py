"""One whole check: open a launcher, run the records, keep the journal, return the report."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import platformdirs

from compilefix.check import CheckReport
from compilefix.cuda_interpreted.gpus import DEFAULT as DEFAULT_GPU
from compilefix.environment import Environment, installed_torch
from compilefix.errors import HarnessError, UsageError
from compilefix.outcome import INTERPRETED, REFERENCE, Result
from compilefix.registry import Record
from compilefix.runner import journal as journals
from compilefix.runner.journal import Journal
from compilefix.runner.layered import LayeredLauncher
from compilefix.runner.process import Launcher, SpawnLauncher, ZygoteLauncher
from compilefix.runner.schedule import Check, Options, targets_for
from compilefix.runner.warm import EXERCISED, usable_cache


class Watcher(Protocol):
    """What a progress display is told."""

    def warming(self) -> None:
        """Torch is being loaded."""

    def started(self, environment: Environment, runs: int) -> None:
        """Torch is there and `runs` runs are ahead."""

    def ran(self, event: str, what: str) -> None:
        """`event` is ``run`` or ``done``; `what` names the record, the target, and ``workaround`` where it is one."""

    def result(self, result: Result) -> None:
        """One record is complete."""


def default_isolation() -> str:
    """Return ``fork`` where forking a warmed parent is safe, else ``spawn``."""
    return "fork" if sys.platform == "linux" else "spawn"


def default_cache() -> Path:
    """Return the folder that keeps compiled C++ objects of the installed torch from one check to the next."""
    return Path(platformdirs.user_cache_dir("compilefix")) / f"torch-{installed_torch() or 'none'}"


def default_journal() -> Path:
    """Return the folder of the journals."""
    return Path(platformdirs.user_state_dir("compilefix")) / "journal"


def require_torch() -> None:
    """Raise `HarnessError` where no worker could run: no torch, or no POSIX processes."""
    if sys.platform == "win32":
        raise HarnessError("compilefix runs workers on Linux and macOS; on Windows use WSL")
    if installed_torch() is None:
        raise HarnessError("torch is not installed in this Python; install it (pip install torch) and try again")


def open_launcher(
    isolation: str, cache: Path, gpu: str = DEFAULT_GPU, exercise: Sequence[str] = EXERCISED
) -> tuple[Launcher, tuple[str, ...]]:
    """
    Start the launcher and return it with warnings about the cache folder.

    `gpu` is the GPU that ``inductor:cuda-interpreted`` compiles for, `exercise` what is warmed up: the backends that
    workers are going to use outside of it. Raises `HarnessError` when torch does not import.
    """
    launchers: dict[str, type[ZygoteLauncher | SpawnLauncher]] = {"fork": ZygoteLauncher, "spawn": SpawnLauncher}
    if isolation not in launchers:
        raise UsageError(f"unknown isolation {isolation!r}; one of {', '.join(launchers)}")
    folder, trouble = usable_cache(str(cache))
    shutil.rmtree(Path(folder) / "inductor" / "bisect", ignore_errors=True)  # its state would turn compilation off
    launcher = LayeredLauncher(launchers[isolation], folder, gpu, exercise)
    warnings = (f"cache folder not usable ({trouble}); compiled cold in {folder}",) if trouble else ()
    return launcher, warnings


def _exercise(options: Options) -> tuple[str, ...]:
    """Return what of `EXERCISED` the workers use: a check of one stage does not wait for the next one to be warm."""
    if not options.targets or options.kinds is not None:
        return EXERCISED
    used = {target.backend for target in options.targets if target.device != INTERPRETED} - {REFERENCE, "eager"}
    return EXERCISED if "inductor" in used else EXERCISED[:1] if used else ()


def check(
    records: Sequence[Record],
    *,
    watcher: Watcher,
    options: Options | None = None,
    broken: Sequence[str] = (),
    isolation: str | None = None,
    cache: Path | None = None,
    gpu: str = DEFAULT_GPU,
    journal: Path | None = None,
    resume: bool = False,
    cancelled: threading.Event | None = None,
) -> CheckReport:
    """
    Run `records` on the installed torch and return the report.

    Setting `cancelled` ends the check early: what runs is killed, what did not run is reported as ``unresolved``.
    With `resume`, results that an interrupted check left in the folder `journal` are taken over.

    Raises:
        HarnessError: torch is missing or broken, or the zygote died.

    """
    options = options or Options()
    start = time.monotonic()
    require_torch()
    watcher.warming()
    launcher, warnings = open_launcher(
        isolation or default_isolation(), cache or default_cache(), gpu, _exercise(options)
    )
    try:
        environment = launcher.environment
        log = Journal(journal or default_journal())
        keys = {
            r.id: journals.key(r, environment, targets_for(r, environment, options), options.seed, options.grid)
            for r in records
        }
        done = log.load(keys) if resume else {}
        order = [r.id for r in records]
        run = Check([r for r in records if r.id not in done], launcher, options, watcher.ran, cancelled)
        watcher.started(environment, run.runs)
        for result in run.results():
            watcher.result(result)
            done[result.id] = result
            if not run.interrupted:
                log.add(keys[result.id], result)
        if not run.interrupted:
            log.complete()
    finally:
        launcher.close()
    if environment.scrubbed:
        warnings += (f"not passed on to workers: {', '.join(environment.scrubbed)}",)
    return CheckReport(
        environment=environment,
        results=tuple(sorted(done.values(), key=lambda r: order.index(r.id))),
        cures=tuple(sorted(run.cures, key=lambda c: order.index(c.id))),
        broken=tuple(broken),
        interrupted=run.interrupted,
        seconds=round(time.monotonic() - start, 3),
        seed=options.seed,
        warnings=warnings,
    )
