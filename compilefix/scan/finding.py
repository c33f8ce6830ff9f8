"""What a scan finds: the types, and the rules with their stable codes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from packaging.version import Version

SCHEMA = 1

Range = tuple[str | None, str | None]
"""Half-open range of releases: first one inside, first one outside; None: no bound."""

Kind = Literal["gate", "call", "link"]
Inside = Literal["yes", "no", "maybe"]
Level = Literal["note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding. Its code is stable; notes are listed on request and leave the exit code at 0."""

    code: str
    name: str
    level: Level
    about: str


RULES = {
    rule.code: rule
    for rule in (
        Rule("CF100", "version-gate", "note", "a gate on the torch version that works and is still needed"),
        Rule("CF101", "always-true-gate", "warning", "a gate that is true on every torch you support"),
        Rule("CF102", "always-false-gate", "warning", "a gate that is false on every torch you support"),
        Rule(
            "CF103", "gate-beyond-maximum", "note", "a gate that only a torch later than the maximum decides otherwise"
        ),
        Rule("CF104", "gate-decided-outside", "warning", "a gate that the gate around it has already decided"),
        Rule("CF201", "string-comparison", "error", "version numbers compared as text, where 2.10 sorts before 2.2"),
        Rule("CF202", "truncated-version", "error", "a gate that reads only one digit of the minor version"),
        Rule("CF203", "local-builds", "error", "a gate that answers otherwise on 2.9.1+cu128 than on 2.9.1"),
        Rule("CF204", "off-by-one", "error", "a bound that leaves out the patch releases of its own line"),
        Rule("CF205", "tuple-length", "error", "tuples of different lengths compared: (2, 10, 0) is not (2, 10)"),
        Rule(
            "CF206", "prerelease-floor", "warning", "a .dev or alpha bound, which vendor builds pass months too early"
        ),
        Rule("CF207", "minor-only", "error", "the minor version compared without the major one"),
        Rule("CF208", "digits-joined", "error", "the digits of a version joined to one number"),
        Rule("CF209", "float-version", "error", "a version written as a float: 2.10 is 2.1"),
        Rule("CF210", "patch-ignored", "error", "a helper that ignores the patch number it is given"),
        Rule("CF211", "gate-raises", "error", "a gate that raises instead of answering"),
        Rule("CF212", "empty-range", "error", "a range in which no release can lie"),
        Rule("CF300", "issue-link", "note", "a link to an upstream issue that still concerns a torch you support"),
        Rule(
            "CF301", "fixed-issue-link", "warning", "a link to an upstream issue that no torch you support has any more"
        ),
        Rule(
            "CF400", "affected-op", "note", "an op with a known defect, outside of compiled code as far as can be seen"
        ),
        Rule("CF401", "affected-op-compiled", "warning", "an op with a known defect inside compiled code"),
        Rule(
            "CF402",
            "common-op-compiled",
            "note",
            "an op that most programs use, inside compiled code, with a defect that only certain inputs show",
        ),
    )
}
"""Rules by code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place in a source file."""

    rule: str
    """Code of the rule, a key of `RULES`."""

    file: str
    line: int
    """From 1."""

    column: int
    """From 0, in characters."""

    kind: Kind
    text: str
    """The expression as it stands in the source."""

    message: str
    """One sentence for people."""

    op: str | None = None
    """Operator of a call, as records name it: ``slice_scatter``, ``Tensor.__setitem__``."""

    records: tuple[str, ...] = ()
    """Ids of the records concerned."""

    true_for: tuple[Range, ...] | None = None
    """Releases for which a gate is true; None where this is no gate, or nothing can be said."""

    verdict: str = ""
    """
    Of a gate: ``dead-true``, ``dead-false``, ``live``, ``raises``, ``build`` (depends on the build, not the release).
    Of a link or call: ``dead`` (no supported release is affected) or ``needed``.
    """

    inside: Inside | None = None
    """Whether the place runs in compiled code; ``maybe``: in some runs, or both ways. None: not asked."""

    edit: str | None = None
    """What ``--fix`` does here, in words; None: nothing."""

    end_line: int = 0
    end_column: int = 0
    dead: tuple[int, int] | None = None
    """First and last line that never run."""

    defect: str | None = None
    """Why the gate is itself wrong."""

    @property
    def level(self) -> Level:
        """``note``, ``warning`` or ``error``."""
        return RULES[self.rule].level


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """All findings, in the order of files and lines, notes included."""

    findings: tuple[Finding, ...]
    files: int
    """Files looked at."""

    broken: tuple[str, ...]
    """One line for each file that could not be read."""

    minimum: Version | None
    maximum: Version | None

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Findings that are more than a note: with one of them the exit code is 1."""
        return tuple(f for f in self.findings if f.level != "note")

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; stable, see `SCHEMA`."""
        return {
            "schema": SCHEMA,
            "minimum": str(self.minimum) if self.minimum else None,
            "maximum": str(self.maximum) if self.maximum else None,
            "files": self.files,
            "broken": list(self.broken),
            "findings": [asdict(f) | {"name": RULES[f.rule].name, "level": f.level} for f in self.findings],
        }
