"""What a gate comes to: its truth over releases, its verdict, and whether it is itself wrong and why."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.version import InvalidVersion, Version

from compilefix.scan.compare import Event
from compilefix.scan.evaluate import Evaluator, as_bool
from compilefix.scan.finding import Range
from compilefix.scan.names import Names
from compilefix.scan.releases import NEXT_MAJOR, Build, builds, local_builds, odd_builds, ranges, within
from compilefix.scan.values import UNKNOWN, Raised

RAISES = "raises"
Answer = Any
"""True, False, `UNKNOWN` or `RAISES`."""

Ask = Callable[[Evaluator], Any]
_COMPARED = ("bound", "member", "unequal", "text", "texts", "digits", "length")
_LITERAL = re.compile(r"^\d+\.\d+(\.\d+)?([a-z.+].*)?$")
_FIXED_IN = re.compile(
    r"(?:fix|land|first|since|released|gone)\D{0,30}?(\d+\.\d+(?:\.\d+)?)|(\d+\.\d+(?:\.\d+)?)\D{0,30}?(?:fix|first)"
)


@dataclass(slots=True)
class Judgement:
    """One gate on all builds."""

    truth: list[tuple[Build, Answer]]
    """Plain releases, in order."""

    true_for: tuple[Range, ...] | None
    verdict: str
    beyond: bool
    """Only releases later than the maximum decide otherwise."""

    certain: bool
    """Wheels with a local part and pre-releases of supported releases agree, so that the code can be changed."""

    defect: str | None = None
    rule: str | None = None
    events: set[Event] = field(default_factory=set)


class Judge:
    """Evaluates the gates of one file on all builds."""

    def __init__(
        self, names: Names, minimum: Version | None, maximum: Version | None, lines: Sequence[str] = ()
    ) -> None:
        self.names, self.lines = names, lines
        self.minimum, self.maximum = minimum, maximum
        self.named = tuple(sorted(_versions(names)))
        self.releases = builds(minimum, self.named)
        self._evaluators: dict[Build, Evaluator] = {}

    def evaluator(self, build: Build) -> Evaluator:
        """Return the evaluator of one build, which remembers what it has computed."""
        if build not in self._evaluators:
            self._evaluators[build] = Evaluator(self.names, build)
        return self._evaluators[build]

    def ask(self, build: Build, question: Ask) -> tuple[Answer, set[Event]]:
        """Return the answer of one gate on one build, and how it came about."""
        run = self.evaluator(build)
        run.events = set()
        try:
            value = question(run)
        except Raised as error:
            return RAISES, {*run.events, Event("raised", type(error.error).__name__)}
        return as_bool(value), set(run.events)

    def judge(self, question: Ask, node: ast.AST) -> Judgement | None:
        """Return what the gate comes to; None where nothing can be said."""
        first = self.ask(self.releases[-1], question)[0], self.ask(self.releases[len(self.releases) // 2], question)[0]
        if all(answer is UNKNOWN for answer in first):
            return None
        truth, events = [], set()
        for build in self.releases:
            answer, seen = self.ask(build, question)
            truth.append((build, answer))
            events |= seen
        if all(answer is UNKNOWN for _, answer in truth):
            return None
        supported = [answer for build, answer in truth if within(build, self.minimum, self.maximum)]
        above = [answer for build, answer in truth if self.minimum is None or build.base >= self.minimum]
        others = [(b, self.ask(b, question)[0]) for b in (*local_builds(), *odd_builds())]
        reassigned = Event("reassigned") in events
        verdict = "live" if reassigned else _verdict(supported)
        flavour = _flavour(truth, [answer for _, answer in others], events)
        if flavour:
            verdict = "build"
        true_for = None
        if UNKNOWN not in [a for _, a in truth]:
            true_for = () if flavour or verdict == RAISES else ranges([(b, a is True) for b, a in truth])
        found = Judgement(
            truth=truth,
            true_for=true_for,
            verdict=verdict,
            beyond=verdict in ("dead-true", "dead-false") and self.maximum is not None and _verdict(above) != verdict,
            certain=all(
                answer is (verdict == "dead-true")
                for b, answer in others
                if within(b, self.minimum, self.maximum) and (self.minimum is None or b.version >= self.minimum)
            ),
            events=events,
        )
        if not flavour:
            found.defect, found.rule = self._defect(found, question, node, dict(others))
            if isinstance(node, ast.Name) and found.rule is not None:  # said once, where the flag gets its value
                found.defect = found.rule = None
                found.certain = False
        return found

    def _defect(
        self, found: Judgement, question: Ask, node: ast.AST, others: dict[Build, Answer]
    ) -> tuple[str | None, str | None]:
        from compilefix.scan.defect import Facts, defect

        later, _ = self.ask(Build(NEXT_MAJOR), question)
        locals_differ = [
            (b, a, others[other])
            for b, a in found.truth
            if (other := Build(f"{b.text}+cu128")) in others and others[other] != a
        ]
        facts = Facts(
            truth=found.truth,
            events=found.events,
            at_next_major=later,
            locals=locals_differ,
            node=node,
            bounds=tuple(_bounds(found.events)),
            fixed=self._comment(node),
        )
        return defect(facts)

    def _comment(self, node: ast.AST) -> str | None:
        """Return the release that the comment above a gate says something is fixed in."""
        line = getattr(node, "lineno", 0) - 2
        above = self.lines[line].strip() if 0 <= line < len(self.lines) else ""
        return fixed_in(above) if above.startswith("#") else None


def _verdict(answers: list[Answer]) -> str:
    if answers and all(a == RAISES for a in answers):
        return RAISES
    if not answers or UNKNOWN in answers:
        return "live"
    if all(a is True for a in answers):
        return "dead-true"
    return "dead-false" if all(a is False for a in answers) else "live"


def _flavour(truth: list[tuple[Build, Answer]], others: list[Answer], events: set[Event]) -> bool:
    """Tell whether the answer depends on how torch was built and not on the release."""
    first = truth[0][1]
    if first is UNKNOWN or any(answer != first for _, answer in truth) or any(e.what in _COMPARED for e in events):
        return False
    return any(answer != first and answer is not UNKNOWN for answer in others)


def _versions(names: Names) -> set[str]:
    found = set()
    for node in names.of(ast.Constant):
        if isinstance(node.value, str) and _LITERAL.match(node.value):
            try:
                found.add("{}.{}.{}".format(*(*Version(node.value).release, 0, 0)[:3]))
            except InvalidVersion:
                continue
    return found


def _bounds(events: set[Event]) -> list[tuple[str, str]]:
    return sorted((e.detail.partition(" ")[0], e.detail.partition(" ")[2]) for e in events if e.what == "bound")


def fixed_in(comment: str) -> str | None:
    """Return the release that a comment says something is fixed in."""
    match = _FIXED_IN.search(comment.lower())
    return (match[1] or match[2]) if match else None
