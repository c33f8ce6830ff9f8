"""No compilation: a function under ``torch.compiler.disable``, or a scope in which everything runs plainly."""

from __future__ import annotations

import torch

from compilefix import environment
from compilefix.registry import Record
from compilefix.workarounds.interface import F, Scope, apart

WIDTH = 4


class Island(Scope):
    """As decorator it takes one function out of the graph; as context manager nothing is compiled inside."""

    def __init__(self) -> None:
        super().__init__(lambda: torch.compiler.set_stance("force_eager"))

    def __call__(self, function: F) -> F:
        """Return `function` outside of compiled code, with all that it calls; it breaks the caller's graph."""
        return apart(Scope.__call__(self, function))


def offers(record: Record) -> str | None:
    """Offer it wherever this torch has stances."""
    return "not compiled" if environment.feature("has", "torch.compiler.set_stance") else None


def scope(record: Record) -> Island:
    """Return the scope without compilation."""
    return Island()
