"""
What breaks a user's own function under torch.compile, and what works instead.

``compilefix.diagnose(fn, *args, **kwargs)`` and ``compilefix diagnose FILE:FUNC`` return a `Diagnosis`. Every question
is a probe: one child of a warmed parent, in which parts of the compiler are switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compilefix.diagnosis.live import diagnose
    from compilefix.diagnosis.result import Diagnosis

__all__ = ["Diagnosis", "diagnose"]

_LAZY = {"diagnose": "compilefix.diagnosis.live", "Diagnosis": "compilefix.diagnosis.result"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
