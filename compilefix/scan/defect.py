"""Whether a gate is itself wrong, told from how it was evaluated and from what it answered."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from packaging.version import InvalidVersion, Version

from compilefix.scan.compare import Event
from compilefix.scan.releases import RELEASES, Build
from compilefix.scan.values import UNKNOWN

Found = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one gate."""

    truth: list[tuple[Build, Any]]
    events: set[Event]
    at_next_major: Any
    """Answer on 3.0.0."""

    locals: list[tuple[Build, Any, Any]]
    """Releases on which a wheel with a local part gets another answer: build, plain answer, local answer."""

    node: ast.AST
    bounds: tuple[tuple[str, str], ...]
    """Comparisons made: operator as seen from torch's version, and the bound."""

    fixed: str | None = None
    """Release that the comment above says something is fixed in."""

    @property
    def whats(self) -> set[str]:
        """Kinds of events."""
        return {e.what for e in self.events}

    def detail(self, what: str) -> str:
        """Return the detail of an event."""
        return next((e.detail for e in sorted(self.events, key=str) if e.what == what), "")


def defect(facts: Facts) -> Found:
    """Return why the gate is wrong and the rule that says so; None twice where nothing is wrong."""
    for test in (
        _raises,
        _text,
        _truncated,
        _joined,
        _floats,
        _length,
        _floor,
        _equality,
        _one_off,
        _patch,
        _minor,
        _empty,
    ):
        found = test(facts)
        if found is not None:
            return found
    return None, None


def _raises(facts: Facts) -> Found | None:
    answers = [a for _, a in facts.truth]
    if all(a == "raises" for a in answers):
        return (
            f"raises {facts.detail('raised')} on every release: torch.__version__ cannot be compared with this",
            "CF211",
        )
    if any(other == "raises" and a != "raises" for _, a, other in facts.locals):
        return "raises on builds with a local part such as 2.9.1+cu128", "CF211"
    return None


def _text(facts: Facts) -> Found | None:
    if "text" in facts.whats and "slice" not in facts.whats:
        return "compared as text, where '2.10' sorts before '2.2'", "CF201"
    if "texts" in facts.whats:
        return f"a {facts.detail('texts')} of strings is compared as text, where '10' sorts before '2'", "CF201"
    return None


def _truncated(facts: Facts) -> Found | None:
    if "slice" in facts.whats:
        how = "float of a slice" if "float" in facts.whats else "a slice of a few characters"
        return f"{how}: '2.10.0'[:3] is '2.1'", "CF202"
    if "character" in facts.whats:
        return "one character is taken for the minor version: that of 2.10 is read as 1", "CF202"
    if "regex" in facts.whats:
        return "the pattern takes one digit of the minor version: 2.10 is read as 2.1", "CF202"
    if "float" in facts.whats:
        return "a version read as a float: 2.10 is 2.1", "CF202"
    return None


def _joined(facts: Facts) -> Found | None:
    if "digits" in facts.whats:
        return "the digits joined to one number: 2.10.0 is 2100, 3.0.0 only 300, and pre-releases raise", "CF208"
    return None


def _floats(facts: Facts) -> Found | None:
    if "zero" in facts.whats:
        return "a float has no trailing zero: 2.10 is 2.1", "CF209"
    return None


def _length(facts: Facts) -> Found | None:
    if "length" not in facts.whats:
        return None
    if facts.detail("length") == "shorter":
        return "a two-part version compared with a longer tuple: (2, 9) is less than (2, 9, 0)", "CF205"
    return "a three-part version compared with a shorter tuple: (2, 10, 0) is greater than (2, 10)", "CF205"


def _floor(facts: Facts) -> Found | None:
    for sign, bound in facts.bounds:
        try:
            version = Version(bound)
        except InvalidVersion:
            continue
        if version.is_devrelease and sign in (">=", ">", "<", "<="):
            return (
                f"every alpha, such as a vendor's {version.base_version}a0, sorts above {bound} whatever its date",
                "CF206",
            )
        if version.pre == ("a", 0) and sign in (">=", "<"):
            return f"nightlies ({version.base_version}.dev…) sort below {bound}, and vendors' alphas above", "CF206"
    return None


def _equality(facts: Facts) -> Found | None:
    if "unequal" in facts.whats:
        return (
            "TorchVersion has no != of its own: this compares text, so 2.9.1+cu128 and 2.13 against 2.13.0 differ",
            "CF203",
        )
    if not facts.locals:
        return None
    if "member" in facts.whats:
        also = "patch releases and " if facts.detail("member") == "short" else ""
        return f"misses {also}local builds: 2.9.1+cu128 is not among exact versions", "CF203"
    if any(sign in ("==", "!=") for sign, _ in facts.bounds):
        return "equality misses local builds: 2.9.1+cu128 is not equal to 2.9.1", "CF203"
    return None


def _one_off(facts: Facts) -> Found | None:
    """Say so where ``<= 2.9`` leaves 2.9.1 out, or a wheel's local part makes it greater than its release."""
    for sign, bound in facts.bounds:
        if facts.fixed and sign == "<" and bound != facts.fixed and _same_line(bound, facts.fixed):
            return f"the comment says {facts.fixed}, the bound is {bound}", "CF204"
    last = [(sign, bound) for sign, bound in facts.bounds if sign in ("<=", ">")]
    for sign, bound in last:
        if bound.count(".") == 1 and facts.locals:
            return (
                f"'{sign} {bound}' means {sign} {bound}.0: later patch releases and local builds are beyond it",
                "CF204",
            )
    if facts.locals and last:
        bound = last[0][1]
        return f"a local build sorts above its release: {bound}+cu128 is greater than {bound}", "CF203"
    if facts.locals:
        build = facts.locals[0][0].text
        return f"a local build is taken for another version: {build}+cu128 does not get the answer of {build}", "CF203"
    return None


def _same_line(one: str, other: str) -> bool:
    pair = Version(one), Version(other)
    return pair[0].release[:2] == pair[1].release[:2] and pair[0] != pair[1]


def _patch(facts: Facts) -> Found | None:
    """Say so where a helper is given 2.12.1 and changes its answer at 2.12.0."""
    if not isinstance(facts.node, ast.Call):
        return None
    wanted = _wanted(facts.node)
    if wanted is None or wanted not in RELEASES or wanted.endswith(".0"):
        return None
    answers = {b.text: a for b, a in facts.truth}
    before = answers.get(RELEASES[RELEASES.index(wanted) - 1])
    start = f"{wanted.rpartition('.')[0]}.0"
    earlier = answers.get(RELEASES[RELEASES.index(start) - 1])
    if UNKNOWN in (before, earlier):
        return None
    if answers.get(wanted) == before and answers.get(start) != earlier:
        return f"the helper ignores the patch number of {wanted}", "CF210"
    return None


def _wanted(node: ast.Call) -> str | None:
    numbers = [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is int]
    if len(numbers) == 3:
        return ".".join(map(str, numbers))
    for argument in node.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value.count(".") == 2:
            return argument.value
    return None


def _minor(facts: Facts) -> Found | None:
    """Say so where the answer turns back at 3.0 because the major version is not looked at."""
    if "minor" not in facts.whats or "major" in facts.whats or facts.at_next_major in (UNKNOWN, "raises"):
        return None
    answers = [a for _, a in facts.truth]
    if answers[-1] == facts.at_next_major or answers[0] != facts.at_next_major:
        return None
    if isinstance(facts.node, ast.BoolOp):
        return "major and minor joined by `and`: at 3.0 the minor version begins again at 0", "CF207"
    return "the minor version alone: at 3.0 it begins again at 0", "CF207"


def _empty(facts: Facts) -> Found | None:
    if not isinstance(facts.node, ast.BoolOp) or not isinstance(facts.node.op, ast.And):
        return None
    if all(a is False for _, a in facts.truth) and facts.at_next_major is False and len(facts.bounds) > 1:
        return "no release can lie in this range", "CF212"
    return None
