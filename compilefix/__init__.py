"""compilefix: known torch.compile defects as programs that run, and what works instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compilefix.backend import guarded
    from compilefix.calls import compare_releases, run_check
    from compilefix.diagnosis import Diagnosis, diagnose
    from compilefix.gate import force, when
    from compilefix.standing import status
    from compilefix.validation import validate, validated
    from compilefix.workarounds import workaround

__version__ = "0.1.0"
__all__ = [
    "Diagnosis",
    "__version__",
    "compare_releases",
    "diagnose",
    "force",
    "guarded",
    "run_check",
    "status",
    "validate",
    "validated",
    "when",
    "workaround",
]

_LAZY = {
    "Diagnosis": "compilefix.diagnosis",
    "compare_releases": "compilefix.calls",
    "diagnose": "compilefix.diagnosis",
    "force": "compilefix.gate",
    "guarded": "compilefix.backend",
    "run_check": "compilefix.calls",
    "status": "compilefix.standing",
    "validate": "compilefix.validation",
    "validated": "compilefix.validation",
    "when": "compilefix.gate",
    "workaround": "compilefix.workarounds",
}
"""Names that need more than this file, most of them torch, and the module each is imported from on first use."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return value
