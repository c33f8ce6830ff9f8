"""
The record types: what is known of one defect or one contract. No torch, no I/O.

Beside its record a repro has ``program`` (or ``make``) and ``inputs(device)``. Where ``inputs`` takes ``scale=1.0`` as
well, the defect shows with inputs of an eighth of the size too, and the interpreted target may ask for those.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from packaging.version import InvalidVersion, Version

from compilefix.condition import Condition

STAGES = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
"""Backends of ``torch.compile`` in the order in which they add a layer."""

DEVICES = ("cpu", "cuda")
STRICT = ("strides", "rng", "bitwise")
CACHES = ("off", "warm")


class Symptom(str, Enum):
    """What the user sees."""

    WRONG_RESULT = "wrong-result"
    WRONG_GRADIENT = "wrong-gradient"
    WRONG_ALIAS = "wrong-alias"
    ERROR = "error"
    MISSING_ERROR = "missing-error"
    CRASH = "crash"
    HANG = "hang"
    GRAPH_BREAK = "graph-break"
    RECOMPILE = "recompile"


class Truth(str, Enum):
    """What there is to say of a contract's statement."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    DIFFER = "eager and compiled differ"

    @property
    def opposite(self) -> Truth:
        """The other one of `HOLDS` and `DOES_NOT_HOLD`."""
        return Truth.DOES_NOT_HOLD if self is Truth.HOLDS else Truth.HOLDS


Holds = Callable[[Condition], "bool | None"]
"""Answers a condition for one machine; None where it cannot be told."""


class Expectation(str, Enum):
    """What the record says of one torch version."""

    AFFECTED = "affected"
    UNAFFECTED = "unaffected"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """
    One range of torch releases.

    A bound that nobody confirmed stays unset. `introduced` unset means that the start is unknown: versions from
    `first_seen` on are affected, earlier ones unknown. `fixed` and `last_affected` both unset means still open. With
    `last_seen`, what lies between it and `fixed` is unknown as well.
    """

    introduced: str | None = None
    """First affected release (inclusive)."""

    first_seen: str | None = None
    """Earliest release on which the defect was reported or measured, where `introduced` is unknown."""

    fixed: str | None = None
    """First release without the defect (exclusive end). Its pre-releases count as affected."""

    last_seen: str | None = None
    """Latest release on which the defect was reported or measured, where `fixed` is merely the first one found good."""

    last_affected: str | None = None
    """Last affected release (inclusive end)."""

    where: tuple[str, ...] = ()
    """Conditions that must all hold besides, such as ``("cudnn>=9.10.2", "cudnn<9.15")``, see `Condition.parse`."""

    def __post_init__(self) -> None:
        _tuple_of(str, "where", self.where)
        for text in self.where:
            Condition.parse(text)
        if self.fixed is not None and self.last_affected is not None:
            raise ValueError("a range has fixed= or last_affected=, not both")
        if self.introduced is not None and self.first_seen is not None:
            raise ValueError("a range has introduced= or first_seen=, not both")
        if all(v is None for v in (self.introduced, self.first_seen, self.fixed, self.last_affected)):
            raise ValueError("a range without any bound says nothing; write affected=() when it is unknown")
        for name in ("introduced", "first_seen", "last_seen", "fixed", "last_affected"):
            _release(name, getattr(self, name))
        if self.last_seen is not None and (self.fixed is None or Version(self.last_seen) >= Version(self.fixed)):
            raise ValueError("last_seen= goes with a later fixed=")
        start = self.introduced or self.first_seen
        end = self.fixed or self.last_affected
        if start is not None and end is not None:
            empty = Version(start) >= Version(end) if self.fixed else Version(start) > Version(end)
            if empty:
                raise ValueError(f"the range from {start} to {end} is empty")
        if start is not None and self.last_seen is not None and Version(start) > Version(self.last_seen):
            raise ValueError(f"last_seen={self.last_seen!r} is before the range begins, which is {start}")

    def expectation(self, version: Version, holds: Holds = lambda _: True) -> Expectation:
        """
        Tell what this range says of `version`, on a machine for which `holds` answers the conditions.

        A condition that is false takes the range away; one that cannot be told (None) makes an affected release
        unknown.
        """
        answers = [holds(Condition.parse(text)) for text in self.where]
        if any(answer is False for answer in answers):
            return Expectation.UNAFFECTED
        expected = self._by_version(version)
        doubtful = expected is Expectation.AFFECTED and any(answer is None for answer in answers)
        return Expectation.UNKNOWN if doubtful else expected

    def _by_version(self, version: Version) -> Expectation:
        """
        Tell what the range of releases says.

        The local part (``+cu124``) is dropped; the lower bound is held against the base version and the upper bound
        against the version itself, so every pre-release of the fixing version counts as affected: the safe side.
        """
        public, base = Version(version.public), Version(version.base_version)
        if self.fixed is not None and public >= Version(self.fixed):
            return Expectation.UNAFFECTED
        if self.last_affected is not None and public > Version(self.last_affected):
            return Expectation.UNAFFECTED
        if self.last_seen is not None and public > Version(self.last_seen):
            return Expectation.UNKNOWN
        if self.introduced is not None:
            return Expectation.AFFECTED if base >= Version(self.introduced) else Expectation.UNAFFECTED
        if self.first_seen is not None and base >= Version(self.first_seen):
            return Expectation.AFFECTED
        end = self.last_seen or self.fixed or self.last_affected
        if end is not None and base == Version(Version(end).base_version):
            return Expectation.AFFECTED  # the last affected release itself, or a pre-release of the fixing one
        return Expectation.UNKNOWN

    def __str__(self) -> str:
        return self._range() + (f" (where {' and '.join(self.where)})" if self.where else "")

    def _range(self) -> str:
        if self.introduced is not None:
            start = f">= {self.introduced}"
        elif self.first_seen is not None:
            start = f"seen from {self.first_seen} (earlier: unknown)"
        else:
            start = "from an unknown release"
        if self.last_seen is not None:
            return f"{start} to {self.last_seen}, good in {self.fixed} (between: unknown)"
        if self.fixed is not None:
            return f"{start}, fixed in {self.fixed}"
        if self.last_affected is not None:
            return f"{start}, last affected {self.last_affected}"
        return f"{start}, still open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What any record says of how its program is run and judged."""

    stage: str
    """First backend that misbehaves, one of `STAGES`."""

    culprit: str | None = None
    """``subsystem/op`` in CompilerBisector's words: the key by which a diagnosis is matched. None: not localised."""

    devices: tuple[str, ...] = ("cpu",)
    """Devices the record is about."""

    ops: tuple[str, ...] = ()
    """Operators concerned, as a user writes them, without the ``torch.`` prefix."""

    references: tuple[str, ...] = ()
    """Links to the report, the fix and the evidence."""

    related: tuple[str, ...] = ()
    """Ids of neighbouring records."""

    requires: tuple[str, ...] = ()
    """Dotted torch names that must exist, or features: ``linux``, ``x86_64``, ``avx2``, ``avx512``, ``numpy``."""

    compile: dict[str, object] = field(default_factory=dict)
    """Keyword arguments for ``torch.compile`` besides ``backend``."""

    config: dict[str, object] = field(default_factory=dict)
    """
    Settings that must be on for the defect to show: full dotted name to value. With
    ``torch._inductor.config.cpp.cxx`` among them, a missing C++ compiler is what the record is about.
    """

    workaround_config: dict[str, object] = field(default_factory=dict)
    """Settings that avoid the defect: full dotted name to value."""

    limit: float | None = None
    """Seconds after which this program is a hang, where that is less than the check's own limit."""

    random: bool = False
    """Each backend draws its own random numbers: only what ``drive`` returns is compared, not each call's result."""

    caches: str = "off"
    """``warm``: the defect needs a second process that finds the first one's disk caches."""

    expects: dict[str, object] = field(default_factory=dict)
    """Facts of a healthy compiled run: ``graphs``, ``graph_breaks``, ``recompiles``, or what ``facts()`` returns."""

    strict: tuple[str, ...] = ()
    """Comparisons that are a contract here and not only noted: any of `STRICT`."""

    def __post_init__(self) -> None:
        for name in ("devices", "ops", "references", "related", "requires", "strict"):
            _tuple_of(str, name, getattr(self, name))
        for name in ("compile", "config", "workaround_config", "expects"):
            if not isinstance(getattr(self, name), dict):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a dict")
        _one_of("stage", (self.stage,), STAGES)
        _one_of("devices", self.devices, DEVICES)
        _one_of("strict", self.strict, STRICT)
        _one_of("caches", (self.caches,), CACHES)
        if not self.devices:
            raise ValueError("devices=() leaves nothing to run")
        for name in (*self.config, *self.workaround_config):
            if not name.startswith("torch.") or ".config." not in name:
                raise ValueError(f"setting {name!r} must be a full name such as 'torch._inductor.config.shape_padding'")
        for link in self.references:
            if not link.startswith("https://"):
                raise ValueError(f"reference {link!r} must be an https:// link")


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue(Program):
    """An upstream defect: one record, one repro."""

    symptom: Symptom
    """What the user sees."""

    affected: tuple[Affected, ...] = ()
    """Affected releases; empty means that the range is unknown."""

    matches: tuple[str, ...] = ()
    """Regular expressions over the normalised error text; none for a silent defect."""

    disputed: str | None = None
    """Why the popular claim is wrong. A disputed record says that no version shows the symptom."""

    def __post_init__(self) -> None:
        Program.__post_init__(self)
        _symptom(self.symptom)
        _tuple_of(Affected, "affected", self.affected)
        _tuple_of(str, "matches", self.matches)
        for pattern in self.matches:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"matches has {pattern!r}, no regular expression: {error}") from None

    def expectation(self, version: Version, holds: Holds = lambda _: True) -> Expectation:
        """Tell what the record says of `version` where `holds` answers conditions; the safe side wins on overlap."""
        if self.disputed is not None:
            return Expectation.UNAFFECTED
        return _expectation(self.affected, version, holds, none=Expectation.UNKNOWN)

    def affected_text(self) -> str:
        """Return the affected releases in words."""
        if self.disputed is not None:
            return "none (disputed)"
        return "; ".join(str(span) for span in self.affected) or "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract(Program):
    """
    A statement about how an op behaves, as it is documented or told, with the truth that was measured.

    Its repro defines ``claim(*inputs)`` beside ``program(*inputs)``: plain Python that does what the program would do
    if the statement were true.
    """

    statement: str
    """The sentence, as it is documented or told."""

    truth: Truth
    """What the plain program says of it: `Truth.HOLDS` or `Truth.DOES_NOT_HOLD`."""

    since: str | None = None
    """First release on which `truth` is so; on earlier ones it is the opposite. None: so on every release looked at."""

    differs: tuple[Affected, ...] = ()
    """Releases whose compiled code does otherwise than the plain program; empty: none is known."""

    symptom: Symptom = Symptom.WRONG_RESULT
    """What that difference looks like."""

    stage: str = "inductor"
    """First backend that does otherwise than the plain program; the last one where none does."""

    def __post_init__(self) -> None:
        Program.__post_init__(self)
        _symptom(self.symptom)
        _tuple_of(Affected, "differs", self.differs)
        if not isinstance(self.statement, str) or not self.statement.strip():
            raise ValueError(f"statement={self.statement!r} must be a sentence")
        if not isinstance(self.truth, Truth) or self.truth is Truth.DIFFER:
            raise ValueError(
                f"truth={self.truth!r} must be Truth.HOLDS or Truth.DOES_NOT_HOLD, what the plain program does; "
                "where compiled code does otherwise is said in differs="
            )
        _release("since", self.since)

    def expectation(self, version: Version, holds: Holds = lambda _: True) -> Expectation:
        """Tell whether the record says that code compiled by `version` does otherwise than the plain program."""
        return _expectation(self.differs, version, holds, none=Expectation.UNAFFECTED)

    def expected(self, version: Version, holds: Holds = lambda _: True) -> Truth | None:
        """Return what the record says of `version`; None where it does not know."""
        match self.expectation(version, holds):
            case Expectation.AFFECTED:
                return Truth.DIFFER
            case Expectation.UNKNOWN:
                return None
        earlier = self.since is not None and Version(version.base_version) < Version(self.since)
        return self.truth.opposite if earlier else self.truth

    def truth_text(self) -> str:
        """Return in words what the plain program does."""
        return self.truth.value + (f" since {self.since}" if self.since is not None else "")

    def affected_text(self) -> str:
        """Return in words the releases whose compiled code does otherwise than the plain program."""
        return "; ".join(str(span) for span in self.differs) or "none known"


Known = Issue | Contract


def _expectation(spans: tuple[Affected, ...], version: Version, holds: Holds, *, none: Expectation) -> Expectation:
    """Join what `spans` say, the safe side first; `none` where there are no spans."""
    answers = {span.expectation(version, holds) for span in spans} or {none}
    return next(e for e in (Expectation.AFFECTED, Expectation.UNKNOWN, Expectation.UNAFFECTED) if e in answers)


def _one_of(name: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name} {value!r} is not one of {', '.join(allowed)}")


def _tuple_of(kind: type, name: str, values: object) -> None:
    if not isinstance(values, tuple) or not all(isinstance(value, kind) for value in values):
        raise ValueError(f"{name}={values!r} must be a tuple of {kind.__name__}; one entry needs a comma behind it")


def _symptom(value: object) -> None:
    if not isinstance(value, Symptom):
        raise ValueError(f"symptom={value!r} must be one of {', '.join(f'Symptom.{s.name}' for s in Symptom)}")


def _release(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise ValueError(f"{name}={value!r} must be a string such as '2.6'")
    try:
        version = Version(value)
    except InvalidVersion:
        raise ValueError(f"{name}={value!r} is no version such as '2.6' or '2.5.1'") from None
    if version.local is not None:
        raise ValueError(f"{name}={value!r} must not have a local part: write {version.public!r}")
