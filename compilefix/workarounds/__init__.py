"""
What avoids a defect: one file a kind, applied in a scope, proved by running.

``compilefix.workaround("gh198094")`` is a context manager and a decorator; it does something only while the running
torch needs it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import warnings
from typing import Any, cast

from compilefix import gate, registry
from compilefix.errors import UsageError
from compilefix.registry import Record
from compilefix.workarounds.interface import Kind, Nothing

__all__ = ["StaleWorkaroundWarning", "kinds", "offered", "workaround"]

_PREFIX = "kind_"


class StaleWorkaroundWarning(UserWarning):
    """A workaround is asked for that this torch does not need."""


class NoWorkaroundWarning(UserWarning):
    """A workaround is asked for and none is known that this torch can apply."""


_warned: set[str] = set()


@functools.cache
def kinds() -> dict[str, Kind]:
    """Return all kinds by name, the narrowest first."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith(_PREFIX)]
    found = {n.removeprefix(_PREFIX): cast(Kind, importlib.import_module(f"{__name__}.{n}")) for n in names}
    return dict(sorted(found.items(), key=lambda pair: pair[1].WIDTH))


def offered(record: Record) -> dict[str, str]:
    """Return what each kind would do about `record` on this torch, the narrowest first."""
    found = {name: kind.offers(record) for name, kind in kinds().items()}
    return {name: words for name, words in found.items() if words is not None}


def workaround(id: str, *, kind: str | None = None) -> Any:
    """
    Return the workaround of one record, as context manager and decorator.

    It is made outside of compiled code and entered around it, or, for the kind ``rewrite``, inside as well. Where the
    gate says that this torch does not need it, it does nothing and says so once with `StaleWorkaroundWarning`.

    Args:
        id: such as ``"gh198094"``.
        kind: ``rewrite``, ``config``, ``backend``, ``island``; default: the narrowest that is offered.

    Raises:
        UsageError: no such record or kind, or the kind is not offered for this record on this torch.

    """
    record = registry.discover().get(id)
    if kind is not None and kind not in kinds():
        raise UsageError(f"no kind {kind!r}; one of {', '.join(kinds())}")
    decision = gate.decide(id, record.known)
    stale = decision.stale or (None if decision.on else gate.stale(id, record.known))
    if stale is not None and id not in _warned:
        _warned.add(id)
        warnings.warn(stale, StaleWorkaroundWarning, stacklevel=2)
    if not decision.on:
        return Nothing()
    offers = offered(record)
    if kind is None:
        applicable = [name for name in offers if name != "upgrade"]
        if not applicable:
            warnings.warn(f"{id}: no workaround can be applied here; {record.what_to_do}", NoWorkaroundWarning, 2)
            return Nothing()
        kind = applicable[0]
    if kind not in offers:
        raise UsageError(f"{id} has no workaround of kind {kind!r} here; there is {', '.join(offers) or 'none'}")
    return kinds()[kind].scope(record)
