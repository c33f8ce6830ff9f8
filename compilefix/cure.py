"""What one workaround came to on one target, and its price. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from compilefix.outcome import Did, Outcome, Target

OWN = "own"
"""The kind of a repro's own workaround: the functions and settings that it brings."""


class Effect(str, Enum):
    """What a workaround does to the program of a record."""

    CURES = "cures"
    DOES_NOT_CURE = "does not cure"
    WORSE = "makes it worse"
    NOT_NEEDED = "not needed"
    """The program is right without it, and with it."""

    UNCLEAR = "unclear"
    """One of the two runs could not be had."""


_HARM = {
    **dict.fromkeys((Did.OK, Did.NUMERICS), 0),
    **dict.fromkeys((Did.MISMATCH, Did.MISSING_ERROR), 1),
    Did.ERROR: 2,
    **dict.fromkeys((Did.CRASH, Did.HANG), 3),
}
"""How bad an outcome is: a compile that fails is worse than a wrong number, a dead process worse than both."""


def effect(program: Outcome, treated: Outcome) -> Effect:
    """Hold the program with a workaround against the one without."""
    if program.did not in _HARM or treated.did not in _HARM:
        return Effect.UNCLEAR
    before, after = _HARM[program.did], _HARM[treated.did]
    if after == 0:
        return Effect.CURES if before else Effect.NOT_NEEDED
    return Effect.WORSE if after > before else Effect.DOES_NOT_CURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Cure:
    """One workaround of one record, run on one target."""

    id: str
    kind: str
    """`OWN`, or the name of a kind such as ``rewrite``, ``config``, ``backend``, ``island``."""

    what: str
    """What it does, in words."""

    target: Target
    effect: Effect
    outcome: Outcome
    """The program with the workaround."""

    ratio: float | None = None
    """Time of one call with the workaround by one without, both compiled, on the inputs of the repro; None where the
    program cannot be timed (it dies or raises), and where the two are not comparable."""

    graph_breaks: int | None = None
    """Graph breaks more than without it."""

    extra_bytes: int | None = None
    """Peak of allocated memory in one call beyond that without it, in bytes."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "id": self.id,
            "kind": self.kind,
            "what": self.what,
            "target": str(self.target),
            "effect": self.effect.value,
            "outcome": self.outcome.to_json(),
            "price": {"time_ratio": self.ratio, "graph_breaks": self.graph_breaks, "extra_bytes": self.extra_bytes},
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Cure:
        """Read what `to_json` wrote."""
        return cls(
            id=raw["id"],
            kind=raw["kind"],
            what=raw["what"],
            target=Target.parse(raw["target"]),
            effect=Effect(raw["effect"]),
            outcome=Outcome.from_json(raw["outcome"]),
            ratio=raw["price"]["time_ratio"],
            graph_breaks=raw["price"]["graph_breaks"],
            extra_bytes=raw["price"]["extra_bytes"],
        )


def weigh(id: str, kind: str, what: str, target: Target, program: Outcome, treated: Outcome) -> Cure:
    """Return the cure that two outcomes on `target` amount to: the program without and with the workaround."""
    price = treated.facts.get("price", {})
    after, before = treated.facts.get("graph_breaks"), program.facts.get("graph_breaks")
    return Cure(
        id=id,
        kind=kind,
        what=what,
        target=target,
        effect=effect(program, treated),
        outcome=treated,
        ratio=price.get("ratio"),
        graph_breaks=None if after is None or before is None else after - before,
        extra_bytes=price.get("extra_bytes"),
    )
