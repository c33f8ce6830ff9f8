"""A backend that stops before the layer with the defect."""

from __future__ import annotations

import torch

from compilefix import environment
from compilefix.issue import STAGES
from compilefix.registry import Record
from compilefix.workarounds.interface import F, Scope, apart

WIDTH = 3


def safe_backend(record: Record) -> str | None:
    """Return the last backend before the record's stage, or None where even Dynamo alone misbehaves."""
    before = STAGES[: STAGES.index(record.known.stage)]
    return before[-1] if before else None


def offers(record: Record) -> str | None:
    """Name the backend; None where there is no earlier one or this torch cannot force a backend in a scope."""
    backend = safe_backend(record)
    if backend is None or environment.feature("parameter", "torch.compiler.set_stance.force_backend") is False:
        return None
    return f"backend {backend}"


class Backend(Scope):
    """As context manager, all compiled code runs on the safe backend; as decorator, one function does."""

    def __init__(self, backend: str) -> None:
        super().__init__(lambda: torch.compiler.set_stance("default", force_backend=backend))
        self._backend = backend

    def __call__(self, function: F) -> F:
        """Return `function` compiled for the safe backend: a graph of its own wherever it is called."""
        compiled: F = apart(torch.compile(function, backend=self._backend))  # type: ignore[assignment]
        return compiled


def scope(record: Record) -> Backend:
    """Return the scope of the safe backend."""
    backend = safe_backend(record)
    assert backend is not None
    return Backend(backend)
