"""The words that all formats share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from compilefix.check import CheckReport
from compilefix.cure import Cure, Effect
from compilefix.environment import Environment
from compilefix.issue import Truth
from compilefix.outcome import (
    BACKENDS,
    PRESENT,
    REFERENCE,
    TARGET_DEVICES,
    Did,
    Difference,
    Outcome,
    Result,
    Target,
    Verdict,
)
from compilefix.text import visible


class Help(str, Enum):
    """What the workaround came to on one ladder of targets."""

    NOT_NEEDED = ""
    WORKS = "works"
    PARTLY = "partly"
    NO_HELP = "no help"
    UNCLEAR = "unclear"
    NONE = "none"
    """The record has no workaround that can be run."""

    NOT_RUN = "not run"
    """The record has one, but the check left it out or was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """The outcomes of one record on one device, static or dynamic, by backend."""

    device: str
    dynamic: bool
    outcomes: dict[str, Outcome]
    workarounds: dict[str, Outcome]
    has_workaround: bool

    @property
    def label(self) -> str:
        """Name of the ladder, such as ``cuda dynamic``."""
        return f"{self.device} dynamic" if self.dynamic else self.device

    @property
    def first_bad(self) -> str | None:
        """First backend that misbehaves."""
        return next((b for b, o in self.outcomes.items() if o.did.bad and b != REFERENCE), None)

    def target(self, backend: str) -> Target:
        """Return the target that `backend` stands for in this ladder."""
        target = Target(backend, self.device, self.dynamic and backend != REFERENCE)
        return target.reference if backend == REFERENCE else target

    @property
    def help(self) -> Help:
        """What the workaround came to; it works only if it was right on every target that misbehaves."""
        bad = [b for b, o in self.outcomes.items() if o.did.bad and b != REFERENCE]
        if not bad:
            return Help.NOT_NEEDED
        tried = [self.workarounds[b].did for b in bad if b in self.workarounds]
        right = [d.good for d in tried]
        if not tried:
            return Help.NOT_RUN if self.has_workaround else Help.NONE
        if any(d.bad for d in tried):
            return Help.PARTLY if any(right) else Help.NO_HELP
        return Help.WORKS if all(right) and len(tried) == len(bad) else Help.UNCLEAR


def ladders(result: Result) -> tuple[Ladder, ...]:
    """Return the ladders of `result`; the reference of a device heads each ladder on it."""
    compiled = {(t.device, t.dynamic) for t in result.outcomes if t.backend != REFERENCE}
    headed = {t.reference for t in result.outcomes if t.backend != REFERENCE}
    alone = {(t.device, False) for t in result.outcomes if t.backend == REFERENCE and t not in headed}
    return tuple(
        Ladder(
            device=device,
            dynamic=dynamic,
            outcomes=_rungs(result.outcomes, device, dynamic),
            workarounds=_rungs(result.workarounds, device, dynamic),
            has_workaround=result.has_workaround,
        )
        for device, dynamic in sorted(compiled | alone, key=lambda pair: (TARGET_DEVICES.index(pair[0]), pair[1]))
    )


def _rungs(outcomes: Mapping[Target, Outcome], device: str, dynamic: bool) -> dict[str, Outcome]:
    found = {}
    for backend in BACKENDS:
        target = Target(backend, device, dynamic and backend != REFERENCE)
        target = target.reference if backend == REFERENCE else target
        if target in outcomes:
            found[backend] = outcomes[target]
    return found


def one_line(value: object, limit: int | None = None) -> str:
    """Return `value` on one line that is safe to show: no terminal sequences, control characters written out."""
    text = " ".join(visible(str(value)).split())
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def block(text: str, limit: int = 3000) -> str:
    """Return `text` on its lines, safe to show; the middle of a long one is left out."""
    text = visible(text.replace("\r\n", "\n")).strip("\n")
    if len(text) <= limit:
        return text
    head, tail = 2 * limit // 3, limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"


def describe(difference: Difference) -> str:
    """Return one difference in words, first place and worst place included."""
    d = difference
    got, want = one_line(d.got, 120), one_line(d.want, 120)
    text = f"{d.what} of {one_line(d.leaf, 120)}{_at(d.where)}: got {got}, want {want}"
    if d.count is not None:
        text += f"; {d.count} of {d.total} elements differ" if d.total is not None else f"; {d.count} elements differ"
    if d.worst is not None:
        text += f"; worst by {_number(d.worst)}{_at(d.worst_at)}"
    return text


def _at(where: tuple[int, ...] | None) -> str:
    return f" at {list(where)}" if where else ""


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else one_line(value, 120)


def cause(outcome: Outcome) -> str:
    """Return in one line why a run is not ``ok``; empty where it says nothing."""
    if outcome.reason:
        return one_line(outcome.reason, 300)
    if outcome.defects:
        return describe(outcome.defects[0])
    return one_line(": ".join(part for part in outcome.error if part), 300) if outcome.error else ""


def told(target: Target, outcome: Outcome) -> str:
    """Return what one target did, with its cause."""
    return f"{target} {outcome.did.value}: {cause(outcome)}".removesuffix(": ")


def because(result: Result) -> str:
    """Return in one line what the verdict of `result` rests on."""
    compiled = {t: o for t, o in result.outcomes.items() if t.backend != REFERENCE}
    right = [t for t, o in compiled.items() if o.did.good]
    furthest = {(t.device, t.dynamic): t for t in sorted(right, key=lambda t: t.rank)}.values()
    upto = ", ".join(map(str, furthest))
    fine = f"nothing is wrong up to {upto}" if right else "no target ran"
    bad = told(result.first_bad, result.outcomes[result.first_bad]) if result.first_bad else "no target misbehaves"
    seen = ", ".join(sorted(s.value for s in result.symptoms)) or "nothing"
    match result.verdict:
        case Verdict.REGRESSED:
            return f"the record says that this torch is not affected, but {bad}"
        case Verdict.FIXED_EARLY:
            return f"the record says that this torch is affected ({result.symptom.value}), but {fine}"
        case Verdict.DIFFERENT:
            return f"recorded as {result.symptom.value}, seen {seen}: {bad}"
        case Verdict.DIFFER:
            other = result.contradicts and result.truth is Truth.DIFFER
            return f"recorded as {result.symptom.value}, seen {seen}: {bad}" if other else f"{_recorded(result)}{bad}"
        case Verdict.DOES_NOT_HOLD:
            return f"{_recorded(result)}{one_line(result.against or 'the plain program does otherwise', 300)}"
        case Verdict.HOLDS:
            same = f", and so does compiled code up to {upto}" if right else ""
            return f"{_recorded(result)}the plain program does what it says{same}"
        case Verdict.REPRODUCES:
            return bad
        case Verdict.CLEAR:
            return fine
        case Verdict.UNSUPPORTED | Verdict.UNRESOLVED:
            did = Did(result.verdict.value)
            causes = dict.fromkeys(cause(o) for o in result.outcomes.values() if o.did is did and cause(o))
            return "; ".join(causes) or "no target at the record's stage was run"


def _recorded(result: Result) -> str:
    """Return what the record of a contract says where this torch contradicts it, to stand before what is so."""
    return f"the record says “{result.truth.value}”, but " if result.contradicts and result.truth is not None else ""


def compiler(cxx: str | None) -> str:
    """Return the C++ compiler's name and version, such as ``g++ 12.2.0``."""
    if cxx is None:
        return "no C++ compiler"
    words = re.sub(r"\([^)]*\)", " ", one_line(cxx)).replace(" version ", " ").split()
    return one_line(" ".join(words) or cxx, 40)


def where(environment: Environment) -> str:
    """Return in one line what was checked: build, instruction set, compiler, Python, CUDA where it is used."""
    git = f" ({environment.torch_git[:8]})" if environment.torch_git else ""
    parts = [f"torch {environment.torch}{git}", environment.isa, compiler(environment.cxx)]
    parts.append("Python " + ".".join(environment.python.split(".")[:2]))
    if "cuda" in environment.devices:
        parts.append(f"CUDA {environment.cuda or 'of unknown version'}")
    if environment.gpu:
        parts.append(f"{environment.gpu.upper()} interpreted")
    return " · ".join(one_line(part) for part in parts if part)


def identity(environment: Environment, seed: int) -> Iterator[tuple[str, str]]:
    """Yield name and value of what identifies a machine and its torch."""
    values: dict[str, object] = dict(environment.identity)
    values |= {"devices": ", ".join(environment.devices), "threads": environment.threads, "seed": seed}
    values |= {f"no {target}": reason for target, reason in environment.missing.items()}
    for name, value in values.items():
        yield name, "none" if value is None else str(value)


def upstream(id: str) -> tuple[str, ...]:
    """Return the address that an id stands for; empty for an id of our own."""
    number = re.fullmatch(r"gh(\d+)", id)
    return (f"https://github.com/pytorch/pytorch/issues/{number[1]}",) if number else ()


_WORDS = {
    "reproduces": ("reproduces", "reproduce"),
    "fixed-early": ("fixed early", "fixed early"),
    "different": ("different from the record", "different from the record"),
    "eager and compiled differ": ("differs when compiled", "differ when compiled"),
    "does not hold": ("does not hold", "do not hold"),
    "holds": ("holds", "hold"),
}
"""Verdicts behind a count of one, and of more."""


def summary(report: CheckReport) -> str:
    """Return the report in one line."""
    counts = [f"{n} {_WORDS.get(name, (name, name))[n > 1]}" for name, n in report.summary.items()]
    if report.broken:
        counts.append(f"{len(report.broken)} unreadable")
    number = len(report.results)
    records = "1 record" if number == 1 else f"{number} records"
    return f"{records} on {where(report.environment)}: {', '.join(counts) or 'nothing was checked'}"


def sections(report: CheckReport) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield what a reader must know beyond the cells: a heading, a colour, and (id, text) lines."""
    against = [(r.id, f"{r.verdict.value}: {because(r)}") for r in report.results if r.contradicts]
    found: list[tuple[str, str, list[tuple[str, str]]]] = [
        ("This torch contradicts the record", "red", against),
        ("Could not tell", "magenta", _grouped(report, Did.UNRESOLVED)),
        ("Not supported here, so not measured", "", _grouped(report, Did.UNSUPPORTED)),
        ("Records that could not be read", "red", [("", line) for line in report.broken]),
        ("Warnings", "yellow", [("", line) for line in report.warnings]),
    ]
    yield from (section for section in found if section[2])


def _grouped(report: CheckReport, did: Did) -> list[tuple[str, str]]:
    """Return a line for each reason why a target is `did`."""
    found: dict[str, dict[str, None]] = {}
    for result in report.results:
        reasons = [cause(o) or "no reason given" for o in result.outcomes.values() if o.did is did]
        if not result.outcomes and result.verdict.value == did.value:
            reasons = ["no target was run"]
        for reason in reasons:
            found.setdefault(reason, {})[result.id] = None
    return [
        (next(iter(ids)), reason) if len(ids) == 1 else ("", f"{reason}: {', '.join(ids)}")
        for reason, ids in found.items()
    ]


def price(cure: Cure) -> str:
    """Return in words what a workaround costs; empty where nothing was measured."""
    parts = [f"{cure.ratio:.2f}x time"] if cure.ratio is not None else []
    if cure.graph_breaks:
        parts.append(f"{cure.graph_breaks:+d} graph break" + ("s" if abs(cure.graph_breaks) > 1 else ""))
    if cure.extra_bytes:
        parts.append(f"{cure.extra_bytes:+,d} bytes")
    if cure.ratio is None and cure.effect is Effect.CURES:
        parts.append("time not measured: the program without it dies or raises, or is a sequence of calls")
    return ", ".join(parts)


def next_steps(report: CheckReport) -> Iterator[tuple[str, str]]:
    """Yield what to do now: a sentence and the command."""
    first = {result.verdict: result.id for result in reversed(report.results)}
    if present := next((first[v] for v in PRESENT if v in first), None):
        yield "What to write instead", f"compilefix explain {present}"
    if against := next((r.id for r in report.results if r.contradicts), None):
        yield "A report to send upstream", f"compilefix check {against} --format markdown"
    if Verdict.UNRESOLVED in first:
        yield "What it printed", f"compilefix check {first[Verdict.UNRESOLVED]} --format markdown"


def unicode_output() -> bool:
    """Tell whether standard output can show the symbols of the tables."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        "✔✘≈≠∅†∞–·▸●○…─".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
