"""Conditions beyond torch's version: other components, the machine, and features that are there or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

COMPONENTS = ("torch", "python", "triton", "cuda", "cudnn", "numpy", "g++", "clang++")
"""Components whose version a condition may compare."""

WORDS = ("system", "machine", "isa")
"""Facts that a condition may compare for equality."""

FEATURES = ("has", "lacks", "parameter", "setting")
"""``has NAME`` and ``lacks NAME``: a dotted torch attribute; ``parameter NAME.ARGUMENT``; ``setting NAME``."""

_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": lambda have, bound: Version(have.base_version) >= bound,
    ">": lambda have, bound: have > bound and Version(have.base_version) > Version(bound.base_version),
    "<": lambda have, bound: have < bound,
    "<=": lambda have, bound: have <= bound,
    "==": lambda have, bound: Version(have.base_version) == bound,
    "!=": lambda have, bound: Version(have.base_version) != bound,
}
_VERSION = re.compile(rf"({'|'.join(map(re.escape, COMPONENTS))})\s*(>=|<=|==|!=|<|>)\s*(\S+)")
_WORD = re.compile(rf"({'|'.join(WORDS)})\s*(==|!=)\s*(\S+)")
_FEATURE = re.compile(rf"({'|'.join(FEATURES)})\s+([A-Za-z_][\w.]*)")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, such as ``triton<3.4``, ``isa==avx512`` or ``has torch.compiler.set_stance``."""

    subject: str
    operator: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; raise `ValueError` that says which forms there are."""
        if match := _VERSION.fullmatch(text.strip()):
            try:
                bound = Version(match[3])
            except InvalidVersion:
                raise ValueError(f"condition {text!r}: {match[3]!r} is no version such as '3.4'") from None
            if bound.local is not None:
                raise ValueError(f"condition {text!r} must not have a local part: write {bound.public!r}")
            return cls(match[1], match[2], match[3])
        if match := _WORD.fullmatch(text.strip()):
            return cls(match[1], match[2], match[3])
        if match := _FEATURE.fullmatch(text.strip()):
            return cls(match[1], "", match[2])
        raise ValueError(
            f"condition {text!r} is none of: {'|'.join(COMPONENTS)} >=,>,<,<=,==,!= VERSION; "
            f"{'|'.join(WORDS)} ==,!= WORD; has|lacks NAME; parameter FUNCTION.ARGUMENT; setting NAME"
        )

    def holds(self, facts: Mapping[str, str | None], probe: Callable[[str, str], bool | None]) -> bool | None:
        """
        Tell whether the condition holds, or None where that cannot be told.

        `facts` maps components and words to what is installed; a component mapped to None is known to be absent, so
        every comparison with it is false. `probe` answers features: (kind, dotted name).

        Versions are compared as `compilefix.issue.Affected` does: local parts dropped, lower bounds against the base
        version, upper bounds against the version itself, so a pre-release of a bound is on the affected side of both.
        """
        if self.subject in FEATURES:
            kind = "has" if self.subject == "lacks" else self.subject
            there = probe(kind, self.value)
            return None if there is None else there is not (self.subject == "lacks")
        if self.subject not in facts:
            return None
        have = facts[self.subject]
        if have is None:
            return False
        if self.subject in WORDS:
            return (have == self.value) is (self.operator == "==")
        try:
            version = Version(Version(have).public)
        except InvalidVersion:
            return None
        return _COMPARISONS[self.operator](version, Version(self.value))

    def __str__(self) -> str:
        if self.subject in FEATURES:
            return f"{self.subject} {self.value}"
        return f"{self.subject}{self.operator}{self.value}"
