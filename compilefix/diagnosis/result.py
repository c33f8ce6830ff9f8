"""What one diagnosis came to: the types that reports show. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from compilefix.cure import Cure, Effect
from compilefix.environment import Environment
from compilefix.errors import Exit, UsageError
from compilefix.issue import Symptom
from compilefix.notebook import Shown
from compilefix.outcome import Did, Outcome, Target

SCHEMA = 1

WIDE = 5
"""Width from which a workaround gives up part of the compilation."""

SEARCHES = ("localise", "refine")
"""Phases in which a right result means that the culprit is among what was left out."""


class Conclusion(str, Enum):
    """The one word for a diagnosis."""

    HEALTHY = "healthy"
    """Compiled and plain code agree on every stage that ran."""

    DEFECT = "defect"
    FAILS_PLAINLY = "fails plainly"
    """The program fails without torch.compile as well: nothing to diagnose."""

    NOT_DETERMINISTIC = "not deterministic"
    UNRESOLVED = "unresolved"


_EXITS = {
    Conclusion.HEALTHY: Exit.EXPECTED,
    Conclusion.DEFECT: Exit.FINDINGS,
    Conclusion.FAILS_PLAINLY: Exit.HARNESS,
    Conclusion.NOT_DETERMINISTIC: Exit.INCONCLUSIVE,
    Conclusion.UNRESOLVED: Exit.INCONCLUSIVE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """One part of the compiler without which the program comes out right."""

    stage: str
    """First backend that misbehaves, in torch's words."""

    subsystem: str | None = None
    """Such as ``lowerings`` or ``post_grad_passes``; None where it was not found."""

    op: str | None = None
    """The op, pass or setting within the subsystem."""

    sites: tuple[str, ...] = ()
    """Where the compiler applied it: node names, passes, pairs of fused buffers."""

    place: str | None = None
    """Line of the user's code that it goes back to, as ``file:line: source``."""

    how: str = ""
    """How it was convicted, in words."""

    @property
    def triple(self) -> str:
        """``stage/subsystem/op``, as far as it is known."""
        return "/".join(part for part in (self.stage, self.subsystem, self.op) if part)

    @property
    def key(self) -> str | None:
        """``subsystem/op`` as records have it."""
        return "/".join(part for part in (self.subsystem, self.op) if part) or None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "triple": self.triple,
            "stage": self.stage,
            "subsystem": self.subsystem,
            "op": self.op,
            "sites": list(self.sites),
            "place": self.place,
            "how": self.how,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Culprit:
        """Read what `to_json` wrote."""
        fields = {k: v for k, v in raw.items() if k != "triple"}
        return cls(**fields | {"sites": tuple(fields["sites"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One probe: what was switched, and what the program then did."""

    phase: str
    what: str
    did: Did
    reason: str | None = None
    seconds: float | None = None
    suspects: int | None = None
    """How many parts of the compiler a search left out; None where they were not counted, and in other phases."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "phase": self.phase,
            "what": self.what,
            "outcome": self.did.value,
            "reason": self.reason,
            "seconds": self.seconds,
            "suspects": self.suspects,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Step:
        """Read what `to_json` wrote."""
        fields = dict(raw)
        return cls(did=Did(fields.pop("outcome")), **fields)


class Likeness(str, Enum):
    """How sure a match is."""

    SAME = "this is"
    SIMILAR = "looks like"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A known issue that the diagnosis resembles."""

    id: str
    title: str
    likeness: Likeness
    why: str
    what_to_do: str = ""
    score: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__} | {"likeness": self.likeness.value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Match:
        """Read what `to_json` wrote."""
        return cls(**dict(raw) | {"likeness": Likeness(raw["likeness"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One workaround, run on the user's own inputs, and how one writes it."""

    cure: Cure
    code: str
    """What to write, as Python."""

    width: int
    """How much of the program it changes; the narrowest first."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return self.cure.to_json() | {"code": self.code, "width": self.width}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Trial:
        """Read what `to_json` wrote."""
        return cls(cure=Cure.from_json(raw), code=raw["code"], width=raw["width"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimal:
    """A smaller program that misbehaves in the same way."""

    source: str
    """Text of the file; it runs with torch alone."""

    good: str | None
    """Text of the last neighbour that does not misbehave; None where there was none."""

    nodes: int
    """Operations that are left, of `nodes_before`."""

    nodes_before: int
    elements: int
    """Elements of all inputs that are left, of `elements_before`."""

    elements_before: int
    complete: bool = True
    """False where time ran out before no step made it smaller."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Minimal:
        """Read what `to_json` wrote."""
        return cls(**raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDiff:
    """What a guilty pass changed in one graph."""

    name: str
    """Number of its turn and name of the pass, such as ``012_remove_noop_ops``."""

    text: str
    """Unified diff of the FX graph before and after it."""

    left_out: int = 0
    """Lines of the diff that are not in `text`."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> GraphDiff:
        """Read what `to_json` wrote."""
        return cls(**raw)


@dataclass(frozen=True, kw_only=True)
class Diagnosis(Shown):
    """Everything that one diagnosis found out. Formats know this type and nothing else."""

    subject: str
    """What was diagnosed, such as ``model.py:forward``."""

    conclusion: Conclusion
    environment: Environment
    reason: str | None = None
    target: Target | None = None
    """First target that misbehaves; None where none does."""

    ladder: dict[Target, Outcome] = field(default_factory=dict)
    """The program on every stage, the reference first."""

    culprits: tuple[Culprit, ...] = ()
    matches: tuple[Match, ...] = ()
    trials: tuple[Trial, ...] = ()
    minimal: Minimal | None = None
    diffs: tuple[GraphDiff, ...] = ()
    """What the guilty passes changed, where the culprit is a pass and somebody asked for it."""

    no_diff: str | None = None
    """Why there is none in `diffs`; None where there is one, and where nothing is wrong."""

    steps: tuple[Step, ...] = ()
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds by phase."""

    seed: int = 0
    out_of_time: bool = False
    """True where ``budget`` ended the diagnosis early: what is here is the best so far."""

    interrupted: bool = False
    matched: bool = True
    """False where the registry was not looked at."""

    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome | None:
        """What the program did on the first target that misbehaves."""
        return self.ladder.get(self.target) if self.target is not None else None

    @property
    def symptom(self) -> Symptom | None:
        """What the user sees; None where nothing is wrong."""
        seen = self.outcome.symptoms if self.outcome is not None else frozenset()
        return next((s for s in Symptom if s in seen), None)

    @property
    def culprit(self) -> Culprit | None:
        """The first culprit."""
        return self.culprits[0] if self.culprits else None

    @property
    def cures(self) -> tuple[Trial, ...]:
        """
        The workarounds that cure, the best first.

        The cheapest of those that keep everything compiled comes first, then those that give up more and more of it:
        on small inputs a time says little, and not compiling is always an answer.
        """
        good = [t for t in self.trials if t.cure.effect is Effect.CURES]
        return tuple(sorted(good, key=lambda t: (max(t.width, WIDE), t.cure.ratio or 1.0, t.width)))

    @property
    def recommended(self) -> Trial | None:
        """The workaround to take, or None."""
        return self.cures[0] if self.cures else None

    @property
    def exit_code(self) -> Exit:
        """0 healthy, 1 a defect, 3 fails without compile as well, 4 inconclusive, 130 interrupted."""
        return Exit.INTERRUPTED if self.interrupted else _EXITS[self.conclusion]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the report; stable, see `SCHEMA`."""
        best = self.recommended
        return {
            "schema": SCHEMA,
            "kind": "diagnosis",
            "subject": self.subject,
            "conclusion": self.conclusion.value,
            "reason": self.reason,
            "symptom": self.symptom.value if self.symptom else None,
            "target": str(self.target) if self.target else None,
            "environment": self.environment.to_json(),
            "ladder": {str(t): o.to_json() for t, o in self.ladder.items()},
            "culprits": [c.to_json() for c in self.culprits],
            "matches": [m.to_json() for m in self.matches],
            "matched": self.matched,
            "trials": [t.to_json() for t in self.trials],
            "recommended": best.cure.what if best else None,
            "minimal": self.minimal.to_json() if self.minimal else None,
            "diffs": [d.to_json() for d in self.diffs],
            "no_diff": self.no_diff,
            "steps": [s.to_json() for s in self.steps],
            "phases": self.phases,
            "seed": self.seed,
            "out_of_time": self.out_of_time,
            "interrupted": self.interrupted,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Diagnosis:
        """Read what `to_json` wrote; raise `UsageError` for another schema or another file."""
        if not isinstance(raw, Mapping) or raw.get("schema") != SCHEMA or raw.get("kind") != "diagnosis":
            raise UsageError(f"not a compilefix diagnosis of schema {SCHEMA}")
        try:
            return cls(
                subject=raw["subject"],
                conclusion=Conclusion(raw["conclusion"]),
                reason=raw["reason"],
                target=Target.parse(raw["target"]) if raw["target"] else None,
                environment=Environment.from_json(raw["environment"]),
                ladder={Target.parse(t): Outcome.from_json(o) for t, o in raw["ladder"].items()},
                culprits=tuple(map(Culprit.from_json, raw["culprits"])),
                matches=tuple(map(Match.from_json, raw["matches"])),
                matched=raw["matched"],
                trials=tuple(map(Trial.from_json, raw["trials"])),
                minimal=Minimal.from_json(raw["minimal"]) if raw["minimal"] else None,
                diffs=tuple(map(GraphDiff.from_json, raw.get("diffs", ()))),
                no_diff=raw.get("no_diff"),
                steps=tuple(map(Step.from_json, raw["steps"])),
                phases=dict(raw["phases"]),
                seed=raw["seed"],
                out_of_time=raw["out_of_time"],
                interrupted=raw["interrupted"],
                warnings=tuple(raw["warnings"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"the diagnosis is damaged: {type(error).__name__}: {error}") from None
