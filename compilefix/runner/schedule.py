"""Decide what runs when: the reference first, then its targets, then the workaround where something is wrong."""

from __future__ import annotations

import heapq
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from packaging.version import Version

from compilefix.cure import Cure, weigh
from compilefix.environment import Environment
from compilefix.errors import HarnessError
from compilefix.issue import STAGES, Contract, Symptom
from compilefix.outcome import INTERPRETED, REFERENCE, Did, Outcome, Result, Target, judge
from compilefix.registry import Record
from compilefix.runner.layered import UnavailableError
from compilefix.runner.process import Launcher, execute
from compilefix.runner.protocol import Mode, Request


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a check runs."""

    targets: tuple[Target, ...] = ()
    """Empty: every stage on every device at hand that the record is about."""

    dynamic: bool = False
    """Add a ``:dynamic`` twin to every compiled target."""

    jobs: int = 1
    timeout: float = 60.0
    """Seconds for one run."""

    seed: int = 0
    grid: str = "forward"
    """Order in which the programs of an interpreted launch run."""

    memory: int | None = 4 << 30
    """Private memory of one worker in bytes."""

    workarounds: bool = True
    """Run the workaround on the targets where the program misbehaves."""

    kinds: Callable[[Record], Mapping[str, tuple[str, str | None]]] | None = None
    """Prove workarounds: a record to its kinds, each with what it does and the module of its scope (None: its own)."""


@dataclass
class _Job:
    """One record on its way through a check."""

    index: int
    record: Record
    targets: tuple[Target, ...]
    folder: Path
    outcomes: dict[Target, Outcome] = field(default_factory=dict)
    workarounds: dict[Target, Outcome] = field(default_factory=dict)
    treated: dict[tuple[Target, str], Outcome] = field(default_factory=dict)
    kinds: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    pending: int = 0


Step = tuple[Target, Mode, str | None]
"""Target, mode, and the kind of workaround that is put to the proof."""

Watch = Callable[[str, str], None]


def targets_for(record: Record, environment: Environment, options: Options) -> tuple[Target, ...]:
    """
    Return the targets of one record, reference first.

    A device that is not here is listed only when the record has no other, so that the row says why nothing ran. A
    record about CUDA is compiled for CUDA and interpreted as well: that needs no GPU.
    """
    here = [d for d in record.known.devices if d in environment.devices]
    devices = here or [record.known.devices[0]]
    interpreted = [Target("inductor", INTERPRETED)] if "cuda" in record.known.devices else []
    stages = [] if interpreted and not here else [Target(backend, device) for device in devices for backend in STAGES]
    chosen = options.targets or (*stages, *interpreted)
    compiled = [t for t in chosen if t.backend != REFERENCE and (t.interpreted or t.device in record.known.devices)]
    if not compiled:
        compiled = [Target(t.backend, record.known.devices[0], t.dynamic) for t in chosen if t.backend != REFERENCE]
    if options.dynamic:
        compiled += [Target(t.backend, t.device, True) for t in compiled if not t.dynamic]
    references = dict.fromkeys(t.reference for t in compiled) or dict.fromkeys(Target(REFERENCE, d) for d in devices)
    return tuple(dict.fromkeys([*references, *compiled]))


class Check:
    """One run over a set of records. Iterate `results`; call `cancel` from anywhere to end early."""

    def __init__(
        self,
        records: Sequence[Record],
        launcher: Launcher,
        options: Options,
        watch: Watch,
        cancelled: threading.Event | None = None,
    ) -> None:
        self._launcher = launcher
        self._options = options
        self._watch = watch
        self._cancelled = cancelled or threading.Event()
        self._root = Path(tempfile.mkdtemp(prefix="compilefix-"))
        self._heap: list[tuple[bool, int, int, int, _Job, Step]] = []
        self._order = count()
        self.cures: list[Cure] = []
        self._jobs = [
            _Job(i, r, targets_for(r, launcher.environment, options), self._root / str(i))
            for i, r in enumerate(records)
        ]

    @property
    def runs(self) -> int:
        """How many targets, references included, this check runs."""
        return sum(len(job.targets) for job in self._jobs)

    @property
    def interrupted(self) -> bool:
        """True once `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Kill what runs; what was not run is reported as such."""
        self._cancelled.set()

    def results(self) -> Iterator[Result]:
        """Yield one result a record, in the order in which they are ready."""
        for job in self._jobs:
            job.folder.mkdir()
            self._begin(job)
        running: dict[Future[Outcome], tuple[_Job, Step]] = {}
        with ThreadPoolExecutor(self._options.jobs) as pool:
            try:
                yield from self._loop(pool, running)
            except BaseException:
                self.cancel()
                raise
            finally:
                shutil.rmtree(self._root, ignore_errors=True)

    def _loop(self, pool: ThreadPoolExecutor, running: dict[Future[Outcome], tuple[_Job, Step]]) -> Iterator[Result]:
        while self._heap or running:
            self._fill(pool, running)
            done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                job, (target, mode, kind) = running.pop(future)
                self._watch("done", _name(job, target, mode, kind))
                if kind is not None:
                    job.treated[target, kind] = future.result()
                elif mode is Mode.WORKAROUND:
                    job.workarounds[target] = future.result()
                else:
                    job.outcomes[target] = future.result()
                job.pending -= 1
                if kind is None:
                    self._advance(job, target, mode)
                if job.pending == 0:
                    shutil.rmtree(job.folder, ignore_errors=True)
                    yield self._result(job)

    def _fill(self, pool: ThreadPoolExecutor, running: dict[Future[Outcome], tuple[_Job, Step]]) -> None:
        busy = any(target.device == "cuda" for _, (target, *_) in running.values())
        put_back = []
        while self._heap and len(running) < self._options.jobs:
            entry = heapq.heappop(self._heap)
            job, (target, mode, kind) = entry[4], entry[5]
            if target.device == "cuda" and busy:
                put_back.append(entry)
                continue
            busy = busy or target.device == "cuda"
            self._watch("run", _name(job, target, mode, kind))
            running[pool.submit(self._run, job, target, mode, kind)] = (job, (target, mode, kind))
        for entry in put_back:
            heapq.heappush(self._heap, entry)

    def _push(self, job: _Job, target: Target, mode: Mode, kind: str | None = None) -> None:
        job.pending += 1
        late = job.record.known.symptom is not Symptom.HANG  # what waits longest begins first
        heapq.heappush(self._heap, (late, job.index, target.rank, next(self._order), job, (target, mode, kind)))

    def _begin(self, job: _Job) -> None:
        for target in job.targets:
            if target.backend == REFERENCE:
                self._push(job, target, Mode.REFERENCE)

    def _advance(self, job: _Job, target: Target, mode: Mode) -> None:
        if mode is Mode.REFERENCE:
            for other in job.targets:
                if other.reference == target and other.backend != REFERENCE:
                    self._push(job, other, Mode.PROGRAM)
        elif mode is Mode.PROGRAM and self._options.workarounds:
            if job.outcomes[target].did.bad and job.record.has_workaround:
                self._push(job, target, Mode.WORKAROUND)
            self._prove(job, target)

    def _prove(self, job: _Job, target: Target) -> None:
        """Once a ladder is complete, put every kind of workaround to the proof on its furthest bad target, or last."""
        ladder = [
            t
            for t in job.targets
            if t.backend != REFERENCE and (t.device, t.dynamic) == (target.device, target.dynamic)
        ]
        if self._options.kinds is None or any(t not in job.outcomes for t in ladder):
            return
        job.kinds = dict(self._options.kinds(job.record))
        bad = [t for t in ladder if job.outcomes[t].did.bad]
        where = max(bad or ladder, key=lambda t: t.rank)
        for kind, (_, scope) in job.kinds.items():
            self._push(job, where, Mode.WORKAROUND if scope is None else Mode.PROGRAM, kind)

    def _run(self, job: _Job, target: Target, mode: Mode, kind: str | None = None) -> Outcome:
        if self._cancelled.is_set():
            return Outcome(did=Did.UNRESOLVED, reason="not run: interrupted")
        reference = job.outcomes.get(target.reference)
        if reason := self._cannot(job.record, target):
            return Outcome(did=Did.UNSUPPORTED, reason=reason)
        if reference is not None and reference.did is not Did.OK:
            did = Did.UNSUPPORTED if reference.did is Did.UNSUPPORTED else Did.UNRESOLVED
            why = reference.reason if did is Did.UNSUPPORTED else f"no reference: {reference.reason}"
            return Outcome(did=did, reason=why)
        if job.record.known.caches == "warm" and mode is not Mode.REFERENCE:
            self._execute(job, target, mode, kind, prime=True)
        outcome = self._execute(job, target, mode, kind)
        if mode is Mode.REFERENCE and outcome.did in (Did.CRASH, Did.HANG):
            reason = f"the plain program itself: {outcome.reason}"
            return Outcome(did=Did.UNRESOLVED, reason=reason, stdout=outcome.stdout, stderr=outcome.stderr)
        if target.interpreted and outcome.did is Did.HANG and job.record.known.symptom is not Symptom.HANG:
            return replace(outcome, did=Did.UNSUPPORTED, reason=f"too large for the interpreter: {outcome.reason}")
        return outcome

    def _execute(
        self, job: _Job, target: Target, mode: Mode, kind: str | None = None, *, prime: bool = False
    ) -> Outcome:
        request = Request(
            repro=str(job.record.path),
            target=str(target),
            mode=mode,
            prime=prime,
            exchange=str(_device_folder(job.folder, target.data_device)),
            scope=job.kinds[kind][1] if kind is not None else None,
            priced=kind is not None and job.outcomes[target].did in _COMPARABLE,
            seed=self._options.seed,
            grid=self._options.grid,
            limit=_limit(job.record, self._options),
            memory=self._options.memory,
        )
        try:
            return execute(self._launcher, request, _limit(job.record, self._options), self._cancelled)
        except UnavailableError as error:
            return Outcome(did=Did.UNSUPPORTED, reason=str(error))
        except HarnessError:
            self.cancel()
            raise

    def _cannot(self, record: Record, target: Target) -> str | None:
        environment = self._launcher.environment
        if target.data_device not in environment.devices:
            return f"no {target.device.upper()} device here: not measured"
        borrowed = target.interpreted or (target.backend == REFERENCE and "cuda" in record.known.devices)
        if target.device not in record.known.devices and not borrowed:
            return f"recorded for {', '.join(record.known.devices)} only"
        absent = [n for n in record.known.requires if "." not in n and n not in environment.features]
        if absent:
            return f"needs {', '.join(absent)}"
        return environment.missing.get(f"{target.backend}:{target.device}")

    def _result(self, job: _Job) -> Result:
        record = job.record
        version, holds = Version(self._launcher.environment.torch), self._launcher.environment.holds
        self.cures += [
            weigh(record.id, kind, job.kinds[kind][0], target, job.outcomes[target], treated)
            for (target, kind), treated in sorted(
                job.treated.items(), key=lambda item: list(job.kinds).index(item[0][1])
            )
        ]
        ordered = {t: job.outcomes[t] for t in job.targets if t in job.outcomes}
        contract = record.known if isinstance(record.known, Contract) else None
        return Result(
            id=record.id,
            title=record.title,
            record=record.kind,
            statement=contract.statement if contract is not None else None,
            truth=contract.expected(version, holds) if contract is not None else None,
            has_workaround=record.has_workaround,
            symptom=record.known.symptom,
            verdict=judge(record.known, version, ordered, holds),
            expected=record.known.expectation(version, holds),
            outcomes=ordered,
            workarounds={t: job.workarounds[t] for t in job.targets if t in job.workarounds},
        )


_COMPARABLE = frozenset({Did.OK, Did.NUMERICS, Did.MISMATCH, Did.MISSING_ERROR})
"""Outcomes of a program that can be timed: it comes to an end and raises nothing."""


def _name(job: _Job, target: Target, mode: Mode, kind: str | None = None) -> str:
    return f"{job.record.id} {target}" + (" workaround" if mode is Mode.WORKAROUND or kind is not None else "")


def _limit(record: Record, options: Options) -> float:
    return min(options.timeout, record.known.limit or options.timeout)


def _device_folder(folder: Path, device: str) -> Path:
    path = folder / device
    path.mkdir(exist_ok=True)
    return path
