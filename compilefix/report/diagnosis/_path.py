"""The probes of a diagnosis as a path that narrows: what each left out, and whether the culprit is in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compilefix.diagnosis.result import SEARCHES, Step
from compilefix.report.html import Cell
from compilefix.report.interface import one_line
from compilefix.report.signs import OUTCOMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """One probe on the path."""

    number: int
    step: Step
    target: str
    question: str
    cell: Cell
    kept: bool
    """Whether it narrowed the search."""

    share: float
    """Percent of the phase's largest set that this one has, on a logarithmic scale; 0 where nothing was counted."""

    says: str
    search: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """The probes of one phase, in the order in which they ended."""

    name: str
    says: str
    narrowed: tuple[int, ...]
    """How many suspects were left each time that fewer were."""

    probes: tuple[Probed, ...]
    open: bool
    """Whether it is shown unfolded: the searches are, which is what the way to the culprit is about."""

    @property
    def targets(self) -> int:
        """On how many targets its probes ran."""
        return len({probe.target for probe in self.probes})


def phases(steps: Sequence[Step], seconds: Mapping[str, float]) -> list[Phase]:
    """Return the phases of a diagnosis."""
    named: dict[str, list[tuple[int, Step]]] = {}
    for number, step in enumerate(steps, 1):
        named.setdefault(step.phase, []).append((number, step))
    return [_phase(name, found, seconds.get(name)) for name, found in named.items()]


def _phase(name: str, found: Sequence[tuple[int, Step]], seconds: float | None) -> Phase:
    most = max((step.suspects or 0 for _, step in found), default=0)
    narrowed = _narrowed(name, found)
    probes = tuple(_probed(number, step, most, number in narrowed, name) for number, step in found)
    says = f"{len(found)} {'probe' if len(found) == 1 else 'probes'}" + (f", {seconds:.1f} s" if seconds else "")
    return Phase(name=name, says=says, narrowed=tuple(narrowed.values()), probes=probes, open=name in SEARCHES)


def _narrowed(name: str, found: Sequence[tuple[int, Step]]) -> dict[int, int]:
    """Return those probes, by number, after which fewer suspects were left than ever before."""
    if name not in SEARCHES:
        return {}
    left: dict[int, int] = {}
    for number, step in found:
        right = step.did.good
        if right and step.suspects and step.suspects < min(left.values(), default=step.suspects + 1):
            left[number] = step.suspects
    return left


def _probed(number: int, step: Step, most: int, kept: bool, phase: str) -> Probed:
    target, _, question = step.what.partition(": ")
    target, question = (target, question) if question else ("", target)
    sign = OUTCOMES[step.did]
    size = step.suspects or 0
    return Probed(
        number=number,
        step=step,
        target=target,
        question=question,
        cell=Cell(column=target, sign=sign.symbol, style=sign.tone, says=step.did.value),
        kept=kept,
        share=100 * math.log1p(size) / math.log1p(most) if size and phase in SEARCHES else 0.0,
        says="; ".join(_says(step, phase)),
        search=one_line(f"{step.what} {step.did.value} {phase}").lower(),
    )


def _says(step: Step, phase: str) -> Iterator[str]:
    yield step.did.value + (f": {one_line(step.reason, 300)}" if step.reason else "")
    if step.suspects and phase in SEARCHES:
        parts = "1 part was" if step.suspects == 1 else f"{step.suspects} parts were"
        right = step.did.good
        yield f"{parts} left out, and {'the culprit is among them' if right else 'it goes wrong all the same'}"
