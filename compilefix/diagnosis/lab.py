"""Ask questions of one subject: each is a probe, one child of the warmed parent; several run side by side."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from compilefix.diagnosis.result import SEARCHES, Step
from compilefix.diagnosis.subject import Subject
from compilefix.errors import HarnessError
from compilefix.outcome import Did, Outcome, Target
from compilefix.runner.layered import UnavailableError
from compilefix.runner.process import Launcher, execute
from compilefix.runner.protocol import Mode, Request

SCOPE = "compilefix.diagnosis.scope"
OBSERVATION = "reference.pickle"
"""What the run of a reference leaves in the exchange folder, see `runner.worker`."""


class OutOfTimeError(Exception):
    """The budget is used up, or the user has interrupted."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One question: the subject on a target, with switches set."""

    what: str
    """The question in words."""

    target: Target
    switches: Mapping[str, Any] = field(default_factory=dict)
    """Name of a switch to what it is told, see the modules ``switch_*`` of this package."""

    mode: Mode = Mode.PROGRAM
    priced: bool = False
    referred: bool = False
    """Run the plain program first, where that has not been done."""

    @property
    def key(self) -> str:
        """Equal for probes that ask the same."""
        return json.dumps([str(self.target), self.mode.value, self.priced, self.switches], sort_keys=True)


def alike(outcome: Outcome, bad: Outcome) -> bool:
    """Tell whether a smaller program misbehaves as the whole one does: the same outcome, a symptom, class of error."""
    same = outcome.did is bad.did and bool(outcome.symptoms & bad.symptoms)
    return same and (bad.did is not Did.ERROR or (outcome.error or ("",))[0] == (bad.error or ("",))[0])


class Lab:
    """Runs probes of one subject until its time is up."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        jobs: int,
        timeout: float,
        deadline: float,
        seed: int = 0,
        memory: int | None = None,
        cancelled: threading.Event | None = None,
        watch: Callable[[Step], None] = lambda _: None,
    ) -> None:
        self.launcher = launcher
        self.jobs = jobs
        self.timeout = timeout
        self.deadline = deadline
        self.seed = seed
        self.memory = memory
        self.cancelled = cancelled or threading.Event()
        self.steps: list[Step] = []
        self.phases: dict[str, float] = {}
        self.phase = ""
        self._watch = watch
        self._count = itertools.count()
        self._seen: dict[tuple[str, str], Outcome] = {}
        self._until = [deadline]

    @property
    def left(self) -> float:
        """Seconds until this phase must end."""
        return min(self._until) - time.monotonic()

    @contextmanager
    def during(self, phase: str, seconds: float | None = None) -> Iterator[None]:
        """Name the phase of the probes inside, and end it after `seconds`."""
        start, before = time.monotonic(), self.phase
        self.phase = phase
        self._until.append(self.deadline if seconds is None else start + seconds)
        try:
            yield
        finally:
            self.phase = before
            self._until.pop()
            spent = round(time.monotonic() - start, 3)
            self.phases[phase] = round(self.phases.get(phase, 0.0) + spent, 3)

    def ask(self, subject: Subject, *probes: Probe) -> list[Outcome]:
        """Run `probes` side by side and return their outcomes in order; raises `OutOfTimeError`."""
        found: dict[int, Outcome] = {}
        for i, outcome in self.stream(subject, probes):
            found[i] = outcome
        return [found[i] for i in range(len(probes))]

    def stream(self, subject: Subject, probes: Sequence[Probe]) -> Iterator[tuple[int, Outcome]]:
        """
        Run `probes` side by side and yield index and outcome as they end; raises `OutOfTimeError`.

        When the caller stops iterating, those that still run are killed and those that wait are not begun.
        """
        yield from self.stream_of([(subject, probe) for probe in probes])

    def stream_of(self, pairs: Sequence[tuple[Subject, Probe]]) -> Iterator[tuple[int, Outcome]]:
        """Like `stream`, for probes of several subjects."""
        stop = threading.Event()
        waiting = list(enumerate(pairs))
        running: dict[Future[Outcome], int] = {}
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < self.jobs:
                        i, (subject, probe) = waiting.pop(0)
                        if (subject.name, probe.key) in self._seen:
                            yield i, self._seen[subject.name, probe.key]
                            continue
                        if self.left <= 0 or self.cancelled.is_set():
                            raise OutOfTimeError
                        running[pool.submit(self._run, subject, probe, stop)] = i
                    done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                    if self.cancelled.is_set():
                        raise OutOfTimeError
                    for future in done:
                        i = running.pop(future)
                        yield i, self._took(*pairs[i], future.result())
            finally:
                stop.set()

    def right(self, subject: Subject, *probes: Probe) -> list[bool]:
        """Tell for each probe whether the program comes out right."""
        return [outcome.did.good for outcome in self.ask(subject, *probes)]

    def first(self, subject: Subject, probes: Sequence[Probe], holds: Callable[[Outcome], bool]) -> int | None:
        """
        Return the index of a probe whose outcome holds, as soon as one does; None where none does.

        Of those that run at the same time the first in the list counts, so that a search ends alike every time.
        """
        return self.first_of([(subject, probe) for probe in probes], lambda _, outcome: holds(outcome))

    def first_of(self, pairs: Sequence[tuple[Subject, Probe]], holds: Callable[[int, Outcome], bool]) -> int | None:
        """Like `first`, for probes of several subjects; `holds` gets the index as well."""
        ended: set[int] = set()
        best: int | None = None
        for i, outcome in self.stream_of(pairs):
            ended.add(i)
            if (best is None or i < best) and holds(i, outcome):
                best = i
            if best is not None and ended.issuperset(range(best)):
                return best
        return best

    def _took(self, subject: Subject, probe: Probe, outcome: Outcome) -> Outcome:
        if outcome.did is Did.HANG and self.left <= 0.05:
            raise OutOfTimeError  # it was the budget that ended it, not the program's own limit
        self._seen[subject.name, probe.key] = outcome
        step = Step(
            phase=self.phase,
            what=f"{probe.target}: {probe.what}",
            did=outcome.did,
            reason=outcome.reason,
            seconds=outcome.seconds,
            suspects=_suspects(probe.switches) if self.phase in SEARCHES else None,
        )
        self.steps.append(step)
        self._watch(step)
        return outcome

    def _run(self, subject: Subject, probe: Probe, stop: threading.Event) -> Outcome:
        exchange = subject.folder / probe.target.data_device
        exchange.mkdir(exist_ok=True)
        argument = None
        if probe.switches:
            path = subject.folder / f"probe-{next(self._count)}.json"
            path.write_text(json.dumps(probe.switches), encoding="utf-8")
            argument = str(path)
        request = Request(
            repro=str(subject.path),
            target=str(probe.target),
            mode=probe.mode,
            exchange=str(exchange),
            scope=SCOPE if argument else None,
            argument=argument,
            priced=probe.priced,
            seed=self.seed,
            memory=self.memory,
        )
        if reason := self._cannot(probe.target):
            return Outcome(did=Did.UNSUPPORTED, reason=reason)
        both = _Either(stop, self.cancelled)
        try:
            limit = max(min(self.timeout, self.left), 0.1)
            if probe.referred and not (exchange / OBSERVATION).exists():
                plain = replace(request, target=str(probe.target.reference), mode=Mode.REFERENCE)
                outcome = execute(self.launcher, replace(plain, scope=None, argument=None), limit, both)
                if outcome.did is not Did.OK:
                    return replace(outcome, did=Did.UNRESOLVED)
            if subject.fields.get("caches") == "warm" and probe.mode is not Mode.REFERENCE:
                execute(self.launcher, replace(request, prime=True), limit, both)
            return execute(self.launcher, request, limit, both)
        except UnavailableError as error:
            return Outcome(did=Did.UNSUPPORTED, reason=str(error))
        except HarnessError:
            if stop.is_set() or self.cancelled.is_set():
                return Outcome(did=Did.UNRESOLVED, reason="not run: interrupted")
            raise

    def _cannot(self, target: Target) -> str | None:
        environment = self.launcher.environment
        if target.data_device not in environment.devices:
            return f"no {target.device.upper()} device here: not measured"
        return environment.missing.get(f"{target.backend}:{target.device}")


_COUNTED = (("sites", "off"), ("nodes", "plain"), ("dynamo", "plain"), ("fusion", "alone"), ("fusion", "pairs"))
"""Switches that are told one by one what to leave out."""


def _suspects(switches: Mapping[str, Any]) -> int | None:
    for name, key in _COUNTED:
        chosen = switches.get(name, {}).get(key)
        if isinstance(chosen, list) and not any(str(one).endswith("|*") for one in chosen):
            return len(chosen)
    settings = switches.get("settings")
    return len(settings) if settings else None


class _Either(threading.Event):
    """Set when one of two events is."""

    def __init__(self, *events: threading.Event) -> None:
        super().__init__()
        self._events = events

    def is_set(self) -> bool:
        """Tell whether one of the events is set."""
        return any(event.is_set() for event in self._events)
