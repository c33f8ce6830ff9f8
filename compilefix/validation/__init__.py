"""
Validated mode: index mistakes that torch reports badly, late or not at all, told before the call runs.

Importing this with ``COMPILEFIX_VALIDATE=1`` in the environment turns the mode on for the importing thread.
"""

from __future__ import annotations

from compilefix.validation.faults import DuplicateIndexWarning, IndexFault, UncheckedWarning
from compilefix.validation.mode import LIMITS, POLICIES, from_environment, validate, validated

__all__ = [
    "LIMITS",
    "POLICIES",
    "DuplicateIndexWarning",
    "IndexFault",
    "UncheckedWarning",
    "from_environment",
    "validate",
    "validated",
]

from_environment()
