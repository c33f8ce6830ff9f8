"""Target, Outcome, Verdict, and `judge`: an observation held against a record. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from packaging.version import Version

from compilefix.errors import UsageError
from compilefix.issue import DEVICES, STAGES, Contract, Expectation, Holds, Issue, Known, Symptom, Truth

REFERENCE = "reference"
BACKENDS = (REFERENCE, *STAGES)
INTERPRETED = "cuda-interpreted"
"""Inductor compiles for CUDA, and its kernels run on a CPU under Triton's interpreter."""

TARGET_DEVICES = (*DEVICES, INTERPRETED)


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """Where a program runs: a backend on a device, with static or dynamic shapes."""

    backend: str
    device: str = "cpu"
    dynamic: bool = False

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read ``backend[:device][:dynamic]``; raise `UsageError` for anything else."""
        backend, *rest = text.split(":")
        dynamic = bool(rest) and rest[-1] == "dynamic"
        if dynamic:
            rest.pop()
        device = rest.pop(0) if rest else "cpu"
        if backend not in BACKENDS or device not in TARGET_DEVICES or rest:
            raise UsageError(
                f"unknown target {text!r}; write BACKEND[:DEVICE][:dynamic] with BACKEND one of "
                f"{', '.join(BACKENDS)} and DEVICE one of {', '.join(TARGET_DEVICES)}"
            )
        if device == INTERPRETED and backend != "inductor":
            raise UsageError(f"there is no target {text!r}: on {INTERPRETED} only inductor runs")
        return cls(backend, device, dynamic)

    @property
    def interpreted(self) -> bool:
        """True where a CPU stands in for the GPU that the program is compiled for."""
        return self.device == INTERPRETED

    @property
    def data_device(self) -> str:
        """Device on which the tensors of a run lie."""
        return "cpu" if self.interpreted else self.device

    @property
    def reference(self) -> Target:
        """The target whose run says what is right here."""
        return Target(REFERENCE, self.data_device)

    @property
    def rank(self) -> int:
        """Position in the ladder of layers; the reference is 0."""
        return BACKENDS.index(self.backend)

    def __str__(self) -> str:
        return f"{self.backend}:{self.device}" + (":dynamic" if self.dynamic else "")


class Did(str, Enum):
    """What one run did."""

    OK = "ok"
    NUMERICS = "numerics"
    MISMATCH = "mismatch"
    ERROR = "error"
    MISSING_ERROR = "missing-error"
    CRASH = "crash"
    HANG = "hang"
    UNSUPPORTED = "unsupported"
    UNRESOLVED = "unresolved"

    @property
    def bad(self) -> bool:
        """True where the compiled program misbehaved."""
        return self in _BAD

    @property
    def good(self) -> bool:
        """True where the compiled program came out right, be it with other rounding."""
        return self in (Did.OK, Did.NUMERICS)


_BAD = frozenset({Did.MISMATCH, Did.ERROR, Did.MISSING_ERROR, Did.CRASH, Did.HANG})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One way in which a compiled run differs from the reference."""

    what: str
    """``exception``, ``structure``, ``shape``, ``dtype``, ``device``, ``strides``, ``nan``, ``inf``, ``values``,
    ``mutation``, ``alias``, ``gradient``, ``requires_grad``, ``rng`` or ``facts``."""

    leaf: str
    """Which object: a path such as ``result[0]``, ``call 2``, ``input[1]``, ``grad of input[0]``."""

    where: tuple[int, ...] | None = None
    """Index of the first differing element."""

    got: Any = None
    want: Any = None

    worst: float | None = None
    """Largest absolute difference over the leaf."""

    worst_at: tuple[int, ...] | None = None
    count: int | None = None
    """How many elements differ beyond tolerance, of `total`."""

    total: int | None = None
    note: bool = False
    """True where the difference is reported but is no defect by itself."""

    symptom: Symptom = Symptom.WRONG_RESULT
    profile: tuple[float, ...] | None = field(default=None, compare=False)
    """Largest absolute difference in each of up to 64 equal parts of the leaf, elements in order; 0.0 where none."""

    floor: float | None = field(default=None, compare=False)
    """How far the reference itself is from its float64 run, at most, over the elements that differ."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object without unset fields."""
        raw = {name: getattr(self, name) for name in self.__slots__}
        raw["profile"] = list(self.profile) if self.profile is not None else None
        raw["symptom"] = self.symptom.value
        for name in ("where", "worst_at"):
            raw[name] = list(raw[name]) if raw[name] is not None else None
        keep = ("what", "leaf", "where", "got", "want")
        return {k: v for k, v in raw.items() if k in keep or (v is not None and v is not False)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Difference:
        """Read what `to_json` wrote."""
        fields = dict(raw)
        fields["symptom"] = Symptom(fields["symptom"])
        for name in ("where", "worst_at", "profile"):
            if fields.get(name) is not None:
                fields[name] = tuple(fields[name])
        return cls(**fields)


def defects(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return the differences that are defects; the others are notes."""
    return tuple(difference for difference in differences if not difference.note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run did, with its evidence."""

    did: Did
    reason: str | None = None
    differences: tuple[Difference, ...] = ()
    error: tuple[str, str] | None = None
    """Type and message of the exception that the run raised."""

    facts: dict[str, Any] = field(default_factory=dict)
    """
    Graphs, graph breaks, recompiles and what the repro's ``facts()`` returned. On a contract's reference: ``claim``,
    whether the plain program does what the statement says, and ``against``, the first thing that speaks against it.
    """

    seconds: float | None = None
    cpu_seconds: float | None = None
    stdout: str = ""
    stderr: str = ""

    @property
    def defects(self) -> tuple[Difference, ...]:
        """The differences that are no notes."""
        return defects(self.differences)

    @property
    def symptoms(self) -> frozenset[Symptom]:
        """What a user would see of this run; empty when nothing is wrong."""
        direct = {
            Did.ERROR: Symptom.ERROR,
            Did.MISSING_ERROR: Symptom.MISSING_ERROR,
            Did.CRASH: Symptom.CRASH,
            Did.HANG: Symptom.HANG,
        }
        if self.did in direct:
            return frozenset({direct[self.did]})
        if self.did is Did.MISMATCH:
            return frozenset(d.symptom for d in self.defects)
        return frozenset()

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; output tails only where something went wrong."""
        raw: dict[str, Any] = {
            "outcome": self.did.value,
            "reason": self.reason,
            "differences": [d.to_json() for d in self.differences],
            "seconds": self.seconds,
        }
        if self.error is not None:
            raw["error"] = {"type": self.error[0], "message": self.error[1]}
        if self.facts:
            raw["facts"] = self.facts
        if self.cpu_seconds is not None:
            raw["cpu_seconds"] = self.cpu_seconds
        if self.did.bad or self.did is Did.UNRESOLVED:
            raw |= {k: v for k, v in (("stdout", self.stdout), ("stderr", self.stderr)) if v}
        return raw

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Outcome:
        """Read what `to_json` wrote."""
        error = raw.get("error")
        return cls(
            did=Did(raw["outcome"]),
            **{name: raw.get(name) for name in ("reason", "seconds", "cpu_seconds")},
            differences=tuple(Difference.from_json(d) for d in raw.get("differences", ())),
            error=(error["type"], error["message"]) if error else None,
            facts=dict(raw.get("facts", {})),
            stdout=raw.get("stdout", ""),
            stderr=raw.get("stderr", ""),
        )


class Verdict(str, Enum):
    """An observation held against the record; `DIFFER`, `DOES_NOT_HOLD` and `HOLDS` are those of contracts."""

    REPRODUCES = "reproduces"
    CLEAR = "clear"
    REGRESSED = "regressed"
    FIXED_EARLY = "fixed-early"
    DIFFERENT = "different"
    DIFFER = Truth.DIFFER.value
    DOES_NOT_HOLD = Truth.DOES_NOT_HOLD.value
    HOLDS = Truth.HOLDS.value
    UNSUPPORTED = "unsupported"
    UNRESOLVED = "unresolved"


def judge(known: Known, version: Version, outcomes: Mapping[Target, Outcome], holds: Holds = lambda _: True) -> Verdict:
    """
    Hold what the targets did against what the record says of `version`.

    A symptom on any compiled target counts. Where none shows, a contract is judged by what its references say of the
    claim, all of which must grant it. Nothing wrong anywhere contradicts a record that says affected only if a
    target at the record's stage (or behind it) really ran; where none did, such a record stays `UNSUPPORTED`. What an
    interpreted target shows of an issue that is not about CUDA is told, and contradicts nothing.
    """
    if isinstance(known, Issue) and "cuda" not in known.devices and any(t.interpreted for t in outcomes):
        own = {t: o for t, o in outcomes.items() if not t.interpreted}
        if any(t.backend != REFERENCE for t in own):
            return judge(known, version, own, holds)
        return _elsewhere(known, outcomes)
    compiled = {t: o for t, o in outcomes.items() if t.backend != REFERENCE}
    if any(o.did is Did.UNRESOLVED for t, o in outcomes.items() if t.backend == REFERENCE):
        return Verdict.UNRESOLVED
    expected = known.expectation(version, holds)
    seen = frozenset[Symptom]().union(*(o.symptoms for o in compiled.values()))
    if seen and isinstance(known, Contract):
        return Verdict.DIFFER
    if known.symptom in seen:
        return Verdict.REGRESSED if expected is Expectation.UNAFFECTED else Verdict.REPRODUCES
    if seen:
        return Verdict.DIFFERENT
    if any(o.did is Did.UNRESOLVED for o in compiled.values()):
        return Verdict.UNRESOLVED
    ran = {t.backend for t, o in compiled.items() if o.did.good}
    missing = {t.backend for t, o in compiled.items() if o.did is Did.UNSUPPORTED}
    stage = STAGES.index(known.stage)
    reached = any(STAGES.index(backend) >= stage for backend in ran)
    if not reached and (missing or not ran or expected is Expectation.AFFECTED):
        return Verdict.UNSUPPORTED
    if isinstance(known, Issue):
        return Verdict.FIXED_EARLY if expected is Expectation.AFFECTED else Verdict.CLEAR
    claims = [o.facts["claim"] for t, o in outcomes.items() if t.backend == REFERENCE and "claim" in o.facts]
    if not claims:
        return Verdict.UNRESOLVED
    return Verdict.HOLDS if all(claims) else Verdict.DOES_NOT_HOLD


OF_CONTRACTS = (Verdict.DIFFER, Verdict.DOES_NOT_HOLD, Verdict.HOLDS)
"""Verdicts that say something of a contract's statement."""

PRESENT = (Verdict.REPRODUCES, Verdict.DIFFER)
"""Verdicts of a torch whose compiler does wrong here, as recorded or not."""


def _elsewhere(known: Known, outcomes: Mapping[Target, Outcome]) -> Verdict:
    """Return the verdict where only targets ran that the record says nothing about."""
    seen = frozenset[Symptom]().union(*(o.symptoms for o in outcomes.values()))
    did = {o.did for t, o in outcomes.items() if t.backend != REFERENCE}
    if known.symptom in seen:
        return Verdict.REPRODUCES
    if seen:
        return Verdict.DIFFERENT
    if Did.UNRESOLVED in did or any(o.did is Did.UNRESOLVED for o in outcomes.values()):
        return Verdict.UNRESOLVED
    return Verdict.UNSUPPORTED if did <= {Did.UNSUPPORTED} else Verdict.CLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """All that one check learnt about one record."""

    id: str
    title: str
    record: str
    """``issue`` or ``contract``."""

    symptom: Symptom
    verdict: Verdict
    expected: Expectation
    outcomes: dict[Target, Outcome]
    has_workaround: bool = False
    """Whether the record brings a workaround that can be run."""

    workarounds: dict[Target, Outcome] = field(default_factory=dict)
    """The workaround compiled on the targets where the program misbehaves."""

    statement: str | None = None
    """The sentence that a contract is about; None for an issue."""

    truth: Truth | None = None
    """What a contract's record says of this version; None for an issue, and where the record does not know."""

    @property
    def label(self) -> str:
        """What a report calls this record: a contract's statement in quotes, an issue's title."""
        return f"“{self.statement}”" if self.statement is not None else self.title

    @property
    def contradicts(self) -> bool:
        """True where this torch contradicts the record."""
        if self.record == "issue":
            return self.verdict in (Verdict.REGRESSED, Verdict.FIXED_EARLY, Verdict.DIFFERENT)
        if self.truth is None or self.verdict not in OF_CONTRACTS:
            return False
        return self.verdict.value != self.truth.value or (
            self.verdict is Verdict.DIFFER and self.symptom not in self.symptoms
        )

    @property
    def symptoms(self) -> frozenset[Symptom]:
        """All that the compiled targets show."""
        shown = (o.symptoms for t, o in self.outcomes.items() if t.backend != REFERENCE)
        return frozenset[Symptom]().union(*shown)

    @property
    def against(self) -> str | None:
        """What the plain program first does otherwise than a contract's statement says, in words; None: nothing."""
        found = (o.facts.get("against") for t, o in self.outcomes.items() if t.backend == REFERENCE)
        return next((str(text) for text in found if text is not None), None)

    @property
    def first_bad(self) -> Target | None:
        """First target of the ladder that misbehaves."""
        bad = [t for t, o in self.outcomes.items() if o.did.bad and t.backend != REFERENCE]
        return min(bad, key=lambda t: (t.rank, t.device, t.dynamic), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of one row."""
        return {
            "id": self.id,
            "title": self.title,
            "record": self.record,
            "statement": self.statement,
            "truth": self.truth.value if self.truth is not None else None,
            "symptom": self.symptom.value,
            "verdict": self.verdict.value,
            "contradicts": self.contradicts,
            "expected": self.expected.value,
            "has_workaround": self.has_workaround,
            "first_bad": str(self.first_bad) if self.first_bad else None,
            "outcomes": {str(t): o.to_json() for t, o in self.outcomes.items()},
            "workarounds": {str(t): o.to_json() for t, o in self.workarounds.items()},
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Result:
        """Read what `to_json` wrote."""
        return cls(
            **{name: raw[name] for name in ("id", "title", "record", "has_workaround")},
            statement=raw.get("statement"),
            truth=Truth(raw["truth"]) if raw.get("truth") is not None else None,
            symptom=Symptom(raw["symptom"]),
            verdict=Verdict(raw["verdict"]),
            expected=Expectation(raw["expected"]),
            outcomes={Target.parse(t): Outcome.from_json(o) for t, o in raw["outcomes"].items()},
            workarounds={Target.parse(t): Outcome.from_json(o) for t, o in raw["workarounds"].items()},
        )
