"""One whole diagnosis: baseline, localise, match, cure, minimise; what ends it early brings back the best so far."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilefix import environment
from compilefix.cuda_interpreted.gpus import DEFAULT as DEFAULT_GPU
from compilefix.diagnosis import ladder, localise
from compilefix.diagnosis.lab import Lab, OutOfTimeError
from compilefix.diagnosis.result import Conclusion, Culprit, Diagnosis, GraphDiff, Match, Minimal, Step, Trial
from compilefix.diagnosis.subject import Subject
from compilefix.errors import UsageError
from compilefix.issue import STAGES
from compilefix.outcome import REFERENCE, Did, Outcome, Target
from compilefix.registry import Record
from compilefix.runner import default_cache, default_isolation
from compilefix.runner.process import Launcher
from compilefix.runner.session import open_launcher, require_torch
from compilefix.text import first_line

SHARES = {"localise": 0.5, "refine": 0.6, "cure": 0.8, "minimise": 0.97}
"""Part of the budget by whose end a phase must be over; the next one takes what is left."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a diagnosis runs."""

    jobs: int = 2
    timeout: float = 60.0
    """Seconds for one probe."""

    budget: float = 300.0
    """Seconds for the whole diagnosis."""

    seed: int = 0
    memory: int | None = 8 << 30
    targets: tuple[Target, ...] = ()
    """Empty: every stage on the CPU."""

    dynamic: bool = False
    gpu: str = DEFAULT_GPU
    isolation: str | None = None
    cache: Path | None = None
    minimise: bool = True
    cure: bool = True
    diff: bool = False
    """Run once more to see what the guilty pass changes, where the culprit is a pass."""

    records: tuple[Record, ...] | None = None
    """Known issues to match with; None: the registry is not looked at."""


@dataclass
class Draft:
    """A diagnosis in the making."""

    ladder: dict[Target, Outcome] = field(default_factory=dict)
    target: Target | None = None
    culprits: tuple[Culprit, ...] = ()
    matches: tuple[Match, ...] = ()
    trials: list[Trial] = field(default_factory=list)
    minimal: Minimal | None = None
    diffs: tuple[GraphDiff, ...] = ()
    no_diff: str | None = None
    out_of_time: bool = False
    interrupted: bool = False
    records: tuple[Record, ...] = ()
    notes: list[str] = field(default_factory=list)


def targets_of(options: Options) -> tuple[Target, ...]:
    """Return the targets of a diagnosis in the order of the stages."""
    chosen = options.targets or tuple(Target(stage) for stage in STAGES)
    twins = tuple(replace(t, dynamic=True) for t in chosen) if options.dynamic else ()
    return (*chosen, *twins)


def run(
    make: Callable[[Path], Subject],
    options: Options,
    *,
    launcher: Launcher | None = None,
    cancelled: threading.Event | None = None,
    watch: Callable[[Step], None] = lambda _: None,
    artifacts: Path | None = None,
) -> Diagnosis:
    """
    Diagnose the subject that `make` builds in a folder and return what was found.

    With a `launcher` that is given, the caller keeps it. Ctrl-C and an exhausted budget return the best so far.

    Raises:
        UsageError: what was named is no program, or its inputs do not fit.
        HarnessError: torch is missing or broken, or the zygote died.

    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="compilefix-diagnosis-", ignore_cleanup_errors=True) as folder:
        subject = make(Path(folder))
        if subject.verdict is not None:
            return _at_once(subject, options)
        warnings, own = subject.warnings, launcher is None
        if launcher is None:
            require_torch()
            cache = options.cache or default_cache()
            launcher, more = open_launcher(options.isolation or default_isolation(), cache, options.gpu)
            warnings += more
        lab = Lab(
            launcher,
            jobs=options.jobs,
            timeout=options.timeout,
            deadline=start + options.budget,
            seed=options.seed,
            memory=options.memory,
            cancelled=cancelled,
            watch=watch,
        )
        lab.phases["warm up"] = round(time.monotonic() - start, 3)
        draft = Draft()
        try:
            _fill(draft, lab, subject, options, start)
            if draft.target is not None and not draft.interrupted:
                warnings += _keep(draft, lab, subject, artifacts, diff=options.diff)
        finally:
            if own:
                launcher.close()
        scrubbed = [name for name in launcher.environment.scrubbed if not name.endswith("_CACHE_DIR")]
        if scrubbed:
            warnings += (f"not passed on to probes: {', '.join(scrubbed)}",)
        conclusion, reason = _conclude(draft)
        seen = subject.spec.get("why")
        if seen is not None and conclusion is Conclusion.HEALTHY:
            conclusion = Conclusion.UNRESOLVED
            reason = f"in the program: {seen}; the graph alone is right, so diagnose the function that holds it"
        return Diagnosis(
            subject=subject.name,
            conclusion=conclusion,
            reason=reason,
            environment=launcher.environment,
            target=draft.target,
            ladder=draft.ladder,
            culprits=draft.culprits,
            matches=draft.matches,
            matched=options.records is not None,
            trials=tuple(draft.trials),
            minimal=draft.minimal,
            diffs=draft.diffs,
            no_diff=draft.no_diff,
            steps=tuple(lab.steps),
            phases=lab.phases,
            seed=options.seed,
            out_of_time=draft.out_of_time,
            interrupted=draft.interrupted,
            warnings=(*warnings, *draft.notes),
        )


def _keep(draft: Draft, lab: Lab, subject: Subject, folder: Path | None, *, diff: bool) -> tuple[str, ...]:
    """Keep what the compiler makes, where somebody asked for it; return what could not be kept."""
    from compilefix.diagnosis import artifacts

    assert draft.target is not None
    troubles: tuple[str, ...] = ()
    if folder is not None:
        troubles = tuple(artifacts.write(folder, lab, subject, draft.target, draft.culprits))
    if folder is None and not diff:
        draft.no_diff = "not asked for"
    else:
        draft.diffs, draft.no_diff = artifacts.guilty(folder, lab, subject, draft.target, draft.culprits)
    return troubles


def _at_once(subject: Subject, options: Options) -> Diagnosis:
    assert subject.verdict is not None
    conclusion, reason = subject.verdict
    here = environment.detect(missing={})
    return Diagnosis(subject=subject.name, conclusion=conclusion, reason=reason, environment=here, seed=options.seed)


def _fill(draft: Draft, lab: Lab, subject: Subject, options: Options, start: float) -> None:
    def until(phase: str) -> float:
        return max(start + SHARES[phase] * options.budget - time.monotonic(), 0.0)

    try:
        with lab.during("baseline"):
            draft.ladder = ladder.climb(lab, subject, targets_of(options))
        _check_usage(subject, draft.ladder)
        with lab.during("baseline"):
            while True:
                draft.target = ladder.first_bad(draft.ladder)
                if draft.target is None:
                    return
                why = ladder.excused(lab, subject, draft.target, draft.ladder[draft.target])
                if why is None:
                    break
                excused = replace(draft.ladder[draft.target], did=Did.NUMERICS, reason=why)
                draft.ladder[draft.target] = excused
        bad = draft.ladder[draft.target]
        draft.culprits = (Culprit(stage=draft.target.backend, how="the first stage that misbehaves"),)
        bench = localise.Bench(lab, subject, draft.target, bad)
        _phase(draft, lab, "localise", until("localise"), lambda: _localise(draft, bench))
        _phase(draft, lab, "refine", until("refine"), lambda: _refine(draft, bench))
        if options.records is not None:
            from compilefix.diagnosis import match

            draft.records = options.records
            ops = match.ops_of(bad, subject)
            here = lab.launcher.environment
            draft.matches = match.matches(options.records, bad, draft.target, draft.culprits, here, ops)
        if options.cure:
            from compilefix.diagnosis import cures

            _phase(draft, lab, "cure", until("cure"), lambda: cures.tried(bench, draft))
        if options.minimise:
            from compilefix.diagnosis import minimise

            _phase(draft, lab, "minimise", until("minimise"), lambda: minimise.minimised(bench, draft))
    except OutOfTimeError:
        draft.out_of_time = not lab.cancelled.is_set()
        draft.interrupted = lab.cancelled.is_set()
    except KeyboardInterrupt:
        lab.cancelled.set()
        draft.interrupted = True


def _localise(draft: Draft, bench: localise.Bench) -> None:
    places = bench.subject.spec.get("places", {})  # a captured graph has lost its own
    found = localise.localise(bench)
    draft.culprits = tuple(replace(c, place=c.place or next(iter(places.get(c.op, ())), None)) for c in found)


def _refine(draft: Draft, bench: localise.Bench) -> None:
    from compilefix.diagnosis import localise_inductor

    draft.culprits = localise_inductor.refine(bench, draft.culprits)


def _phase(draft: Draft, lab: Lab, name: str, seconds: float, work: Callable[[], None]) -> None:
    """Do `work` for at most `seconds`; what it leaves in the draft stays, and the next phase follows."""
    try:
        with lab.during(name, seconds):
            work()
    except OutOfTimeError:
        if lab.cancelled.is_set():
            raise
        draft.out_of_time = True


def _check_usage(subject: Subject, outcomes: dict[Target, Outcome]) -> None:
    """Raise `UsageError` where the reference says that the subject is not what was announced."""
    for outcome in _references(outcomes):
        _, found, message = (outcome.reason or "").partition("SubjectError: ")
        if found:
            raise UsageError(message)


def _references(outcomes: dict[Target, Outcome]) -> Sequence[Outcome]:
    return [outcome for target, outcome in outcomes.items() if target.backend == REFERENCE]


def _conclude(draft: Draft) -> tuple[Conclusion, str | None]:
    for outcome in _references(draft.ladder):
        reason = outcome.reason or ""
        if outcome.did in (Did.CRASH, Did.HANG):
            return Conclusion.FAILS_PLAINLY, _fails(reason)
        if outcome.did is Did.UNRESOLVED and reason.startswith("not deterministic"):
            return Conclusion.NOT_DETERMINISTIC, reason
        if outcome.did is not Did.OK:
            return _without_reference(outcome, reason)
    if draft.target is not None:
        return Conclusion.DEFECT, draft.ladder[draft.target].reason
    compiled = [o for t, o in draft.ladder.items() if t.backend != REFERENCE]
    error = next((o.error for o in _references(draft.ladder) if o.error), None)
    if error is not None and compiled:
        return Conclusion.FAILS_PLAINLY, _fails(f"{error[0]}: {first_line(error[1])}")
    undecided = next((o for o in compiled if o.did is Did.UNRESOLVED), None)
    if undecided is not None or not any(o.did.good for o in compiled):
        why = undecided.reason if undecided else next((o.reason for o in compiled), "nothing ran")
        return Conclusion.UNRESOLVED, why
    return Conclusion.HEALTHY, None


def _without_reference(outcome: Outcome, reason: str) -> tuple[Conclusion, str]:
    if "memory limit" in reason or outcome.did is Did.UNSUPPORTED or "killed from outside" in reason:
        return Conclusion.UNRESOLVED, reason
    told = reason.removeprefix("local_subject.py ").removeprefix("the harness failed: ")
    told = told.removesuffix("; there is nothing to compare with").removeprefix("the plain program raises ")
    return Conclusion.FAILS_PLAINLY, _fails(told)


def _fails(told: str) -> str:
    gpu = " (it needs a GPU that is not here)" if "CUDA" in told or "NVIDIA" in told else ""
    return f"your code fails without torch.compile: {told}{gpu}"
