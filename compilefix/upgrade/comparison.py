"""Two runs of one command on two releases, held against each other by the signatures of their failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from packaging.version import InvalidVersion, Version

from compilefix.errors import Exit
from compilefix.issue import Expectation, Issue, Symptom
from compilefix.registry import Record
from compilefix.upgrade.commands import Run
from compilefix.upgrade.signature import Failure, Signature, normalise

SCHEMA = 1


class Status(str, Enum):
    """What became of one failure."""

    REGRESSED = "regressed"
    """Not seen on the old release, in tests that passed there."""

    NEW = "new only"
    """Seen on the new release only, in tests that did not pass on the old one: they failed otherwise or did not run."""

    BOTH = "failing on both"
    FIXED = "fixed"
    """Seen on the old release only, in tests that pass on the new one."""

    GONE = "gone"
    """Seen on the old release only, in tests that do not pass on the new one either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A record that may be the reason of a failure."""

    id: str
    title: str
    by: str
    """``error text``: an expression of the record matches; ``op``: the user's code calls an operator of the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Failures with one root cause and one fate."""

    status: Status
    signatures: tuple[Signature, ...]
    symptom: Symptom
    tests: tuple[str, ...]
    note: str = ""
    matches: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The two runs and what follows from them."""

    command: tuple[str, ...]
    before: Run
    after: Run
    baseline: str | None
    """Why the old release gives no baseline; None where it does."""

    groups: tuple[Group, ...] = ()
    commit: str | None = None
    warnings: tuple[str, ...] = field(default_factory=tuple)

    def exit_code(self) -> Exit:
        """Return 1 where something regressed or fails anew, 4 where nothing can be concluded, else 0."""
        if self.baseline is not None or self.after.invalid is not None:
            return Exit.INCONCLUSIVE
        found = {group.status for group in self.groups}
        return Exit.FINDINGS if found & {Status.REGRESSED, Status.NEW} else Exit.EXPECTED

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; stable, see `SCHEMA`."""
        counts = {s.value: sum(g.status is s for g in self.groups) for s in Status}
        return {
            "schema": SCHEMA,
            "command": list(self.command),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "baseline": self.baseline,
            "summary": {name: n for name, n in counts.items() if n},
            "groups": [_group_json(group) for group in self.groups],
            "commit": self.commit,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Comparison:
        """Read what `to_json` wrote."""
        return cls(
            command=tuple(raw["command"]),
            before=Run.from_json(raw["before"]),
            after=Run.from_json(raw["after"]),
            baseline=raw["baseline"],
            groups=tuple(_read_group(group) for group in raw["groups"]),
            commit=raw["commit"],
            warnings=tuple(raw["warnings"]),
        )


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "status": group.status.value,
        "symptom": group.symptom.value,
        "signatures": [{"error": s.error, "message": s.message, "frame": s.frame} for s in group.signatures],
        "tests": list(group.tests),
        "note": group.note,
        "matches": [{"id": m.id, "title": m.title, "by": m.by} for m in group.matches],
    }


def _read_group(raw: Mapping[str, Any]) -> Group:
    return Group(
        status=Status(raw["status"]),
        symptom=Symptom(raw["symptom"]),
        signatures=tuple(Signature(**s) for s in raw["signatures"]),
        tests=tuple(raw["tests"]),
        note=raw["note"],
        matches=tuple(Match(**m) for m in raw["matches"]),
    )


_NO_BASELINE = ("ImportError", "ModuleNotFoundError")


def baseline(run: Run) -> str | None:
    """Return why `run` gives no baseline: it was invalid, or died of an import; None where it gives one."""
    if run.invalid is not None:
        return run.invalid
    whole = [f for f in run.failures if f.when in ("command", "collect") and f.signature.error in _NO_BASELINE]
    return f"{whole[0].test}: {whole[0].signature}" if whole and not run.passed else None


Affects = Callable[[Record, str], bool]
"""Whether a record affects a release."""


def by_record(record: Record, release: str) -> bool:
    """Tell what the range of a record says of a release."""
    try:
        return record.known.expectation(Version(release)) is Expectation.AFFECTED
    except InvalidVersion:
        return False


def compare(
    command: Sequence[str],
    before: Run,
    after: Run,
    records: Iterable[Record] = (),
    *,
    affects: Affects = by_record,
    commit: str | None = None,
) -> Comparison:
    """
    Hold `after` against `before`, whose tests are the same; `records` are matched to what failed.

    `affects` says which releases a record affects, where nothing but an operator speaks for it.

    Without a baseline nothing is called regressed or fixed: failures of the new release are `Status.NEW`.
    """
    why = baseline(before)
    passed = frozenset(before.passed) if why is None else frozenset[str]()
    now = frozenset(after.passed) if after.invalid is None else frozenset[str]()
    old = _by_signature(before.failures if why is None else ())
    new = _by_signature(after.failures)
    found: list[tuple[Status, Failure, str]] = []
    for signature, failures in new.items():
        for failure in failures:
            ran_well = _passed(failure, passed)
            if ran_well:
                note = f"the same failure as on {before.release}, in more tests" if signature in old else ""
                found.append((Status.REGRESSED, failure, note))
            elif signature in old:
                found.append((Status.BOTH, failure, ""))
            else:
                found.append((Status.NEW, failure, _why_new(failure, before, why)))
    for signature, failures in old.items():
        if signature not in new:
            for failure in failures:
                fixed = _passed(failure, now)
                note = "" if fixed else f"these tests do not pass on {after.release} either"
                found.append((Status.FIXED if fixed else Status.GONE, failure, note))
    return Comparison(
        command=tuple(command),
        before=before,
        after=after,
        baseline=why,
        groups=tuple(_groups(found, _Matcher(list(records), affects, before.release, after.release))),
        commit=commit,
    )


def _by_signature(failures: Iterable[Failure]) -> dict[Signature, list[Failure]]:
    found: dict[Signature, list[Failure]] = {}
    for failure in failures:
        found.setdefault(failure.signature, []).append(failure)
    return found


def _passed(failure: Failure, passed: frozenset[str]) -> bool:
    """Tell whether the test of `failure` is among `passed`; of a file that fails to collect, any of its tests."""
    if failure.when != "collect":
        return failure.test in passed
    return any(test == failure.test or test.startswith(f"{failure.test}::") for test in passed)


def _why_new(failure: Failure, before: Run, why: str | None) -> str:
    if why is not None:
        return "no baseline"
    other = next((f for f in before.failures if f.test == failure.test), None)
    return f"on {before.release} it fails otherwise" if other else f"did not run on {before.release}"


def _groups(found: Iterable[tuple[Status, Failure, str]], matcher: _Matcher) -> list[Group]:
    together: dict[tuple[Status, tuple[str, str, str], str], list[Failure]] = {}
    for status, failure, note in found:
        together.setdefault((status, failure.signature.cause, note), []).append(failure)
    groups = [
        Group(
            status=status,
            signatures=tuple(dict.fromkeys(f.signature for f in failures)),
            symptom=failures[0].symptom,
            tests=tuple(dict.fromkeys(f.test for f in failures)),
            note=note,
            matches=tuple(matcher.matches(failures, status)),
        )
        for (status, _, note), failures in together.items()
    ]
    order = list(Status)
    return sorted(groups, key=lambda g: (order.index(g.status), -len(g.tests), g.signatures))


_SILENT = frozenset({Symptom.WRONG_RESULT, Symptom.WRONG_GRADIENT, Symptom.WRONG_ALIAS, Symptom.MISSING_ERROR})
"""What a failed assertion may be due to."""


class _Matcher:
    """Finds the records that may be the reason of a failure."""

    def __init__(self, records: Sequence[Record], affects: Affects, before: str, after: str) -> None:
        self._issues = [r for r in records if isinstance(r.known, Issue) and r.known.disputed is None]
        self._affects, self._before, self._after = affects, before, after

    def matches(self, failures: Sequence[Failure], status: Status) -> Iterable[Match]:
        """Yield records by their expressions, else by operator and symptom where they affect the right releases."""
        texts = {f"{f.error}: {f.message}\n{normalise(f.message)}" for f in failures}
        by_text = [r for r in self._issues if any(_told(r, text) for text in texts)]
        if by_text:
            yield from (Match(id=r.id, title=r.title, by="error text") for r in by_text)
            return
        source = "\n".join(f.source for f in failures)
        for record in self._issues:
            called = any(_calls(source, op) for op in record.known.ops)
            if called and _fits(failures[0].symptom, record) and self._explains(record, status):
                yield Match(id=record.id, title=record.title, by="op")

    def _explains(self, record: Record, status: Status) -> bool:
        before, after = self._affects(record, self._before), self._affects(record, self._after)
        return {
            Status.REGRESSED: after and not before,
            Status.NEW: after,
            Status.BOTH: before and after,
            Status.FIXED: before and not after,
            Status.GONE: before,
        }[status]


def _fits(symptom: Symptom, record: Record) -> bool:
    return record.known.symptom is symptom or (symptom is Symptom.WRONG_RESULT and record.known.symptom in _SILENT)


def _told(record: Record, text: str) -> bool:
    """Tell whether all expressions of a record are found in one error text."""
    patterns = record.known.matches if isinstance(record.known, Issue) else ()
    return bool(patterns) and all(re.search(pattern, text) for pattern in patterns)


def _calls(source: str, op: str) -> bool:
    name = re.escape(op.rpartition(".")[2])
    return re.search(rf"\b{name}\s*\(" if not op.endswith(".mT") else rf"\.{name}\b", source) is not None
