"""Which workarounds of a record are put to the proof, and where their scopes are."""

from __future__ import annotations

from compilefix.cure import OWN
from compilefix.registry import WORKAROUNDS, Record
from compilefix.workarounds import kinds, offered

NOT_APPLIED = "upgrade"


def provable(record: Record) -> dict[str, tuple[str, str | None]]:
    """
    Return the kinds of workaround that can be run on this torch, each with what it does and the module of its scope.

    The repro's own functions have no module: they replace the program. Kinds whose effect is certain, not compiling
    and upgrading, are left out where a narrower one is offered.
    """
    found: dict[str, tuple[str, str | None]] = {}
    if set(WORKAROUNDS) & set(record.functions):
        found[OWN] = ("the program rewritten as in the repro", None)
    for name, words in offered(record).items():
        if name != NOT_APPLIED:
            found[name] = (words, kinds()[name].__name__)  # type: ignore[attr-defined]
    return found
