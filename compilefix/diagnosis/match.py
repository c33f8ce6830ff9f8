"""Hold a diagnosis against the known issues: error text, triple, op, symptom. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from packaging.version import Version

from compilefix.diagnosis.result import Culprit, Likeness, Match
from compilefix.diagnosis.subject import Subject, called
from compilefix.environment import Environment
from compilefix.issue import STAGES, Contract, Expectation
from compilefix.outcome import Outcome, Target
from compilefix.registry import Record
from compilefix.text import normalise

NEAR = (
    frozenset({"lowerings", "codegen", "decomposition", "meta_registrations", "scheduler"}),
    frozenset({"variables", "side_effects", "symbolic_shapes", "iterators"}),
)
"""Subsystems between which a diagnosis and a record may draw the line differently: of the compiler, and of Dynamo."""

SAME = 6.0
"""Score from which a match is called the same."""

SIMILAR = 4.0
MOST = 5


def matches(
    records: Iterable[Record],
    bad: Outcome,
    target: Target,
    culprits: Sequence[Culprit],
    environment: Environment,
    ops: Collection[str] = (),
    *,
    alike: bool = True,
) -> tuple[Match, ...]:
    """
    Return the known issues that a diagnosis resembles, the best first.

    `ops` are those of the program; without `alike`, how much the program is like that of the record counts nothing.
    """
    scored = [_match(r, bad, target, culprits, environment, frozenset(ops), alike=alike) for r in records]
    found = [match for match in scored if match is not None]
    return tuple(sorted(found, key=lambda m: (-m.score, m.id.startswith("contract"), m.id))[:MOST])


def ops_of(bad: Outcome, subject: Subject) -> frozenset[str]:
    """Return the operations of a program: those of its graphs, and what its file calls."""
    return frozenset(node["op"].strip("_") for node in bad.facts.get("nodes", ())) | called(subject.file)


def _match(
    record: Record,
    bad: Outcome,
    target: Target,
    culprits: Sequence[Culprit],
    environment: Environment,
    ops: frozenset[str],
    *,
    alike: bool,
) -> Match | None:
    known = record.known
    if not record.goes_wrong or getattr(known, "disputed", None):
        return None
    if known.expectation(Version(environment.torch), environment.holds) is Expectation.UNAFFECTED:
        return None
    score, why = 0.0, []
    text = normalise(bad.error[1]) if bad.error else ""
    patterns = getattr(known, "matches", ())
    if text and any(re.search(pattern, text) for pattern in patterns):
        score += 5
        why.append("same error text")
    elif text and patterns:
        score -= 2
    if known.symptom in bad.symptoms:
        score += 1.5
        why.append(known.symptom.value)
    else:
        score -= 1.5
    if known.stage == target.backend:
        score += 1
    elif abs(STAGES.index(known.stage) - target.rank + 1) > 1:
        score -= 1
    score += max((_culprit(known.culprit, c, why) for c in culprits), default=0.0)
    named = {name.rpartition(".")[2].strip("_") for name in known.ops}
    guilty = {c.op.strip("_") for c in culprits if c.op}
    if named & guilty:
        score += 1.5
        why.append(f"op {', '.join(sorted(named & guilty))}")
    shared = named & ops
    if shared:
        score += 2.0 * len(shared) / len(named)
        if not named & guilty:
            why.append(f"calls {', '.join(sorted(shared))}")
    theirs = _calls(record.path)
    likeness_of = len(theirs & ops) / max(len(theirs | ops), 1) if alike and theirs else 0.0
    score += 2 * likeness_of
    if likeness_of > 0.6:
        why.append("a program like that of the record")
    if isinstance(known, Contract):
        score -= 0.5
    if score < SIMILAR or not why:
        return None
    likeness = Likeness.SAME if score >= SAME else Likeness.SIMILAR
    return Match(
        id=record.id,
        title=record.title,
        likeness=likeness,
        why=", ".join(dict.fromkeys(why)),
        what_to_do=record.what_to_do,
        score=round(score, 2),
    )


@functools.cache
def _calls(path: Path) -> frozenset[str]:
    return called(path)


def near(recorded: str, found: Culprit) -> bool:
    """Tell whether a recorded ``subsystem/op`` names the same op, in a subsystem or one that borders on it."""
    subsystem, _, op = recorded.partition("/")
    return bool(op and found.op) and _last(op) == _last(found.op or "") and _family(subsystem, found.subsystem)


def _last(name: str) -> str:
    return name.rpartition(".")[2].strip("_")


def _family(one: str, other: str | None) -> bool:
    return one == other or any({one, other} <= family for family in NEAR)


def _culprit(recorded: str | None, found: Culprit, why: list[str]) -> float:
    """Return how well a recorded ``subsystem/op`` fits what was found."""
    if recorded is None or found.subsystem is None:
        return 0.0
    subsystem, _, op = recorded.partition("/")
    if recorded == found.key:
        why.append(f"culprit {recorded}")
        return 3.5
    if near(recorded, found):
        why.append(f"culprit {op}")
        return 3.0
    if subsystem == found.subsystem:
        return 1.0
    return 0.0
