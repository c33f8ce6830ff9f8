"""A machine for tests that need one and run nothing on it."""

from __future__ import annotations

from compilefix.environment import Environment


def machine(**changes: object) -> Environment:
    """Return a machine with torch's CPU build, on which no target is missing."""
    fields: dict[str, object] = {
        "torch": "2.13.0+cpu",
        "torch_git": "cf30153c",
        "python": "3.11.7",
        "system": "Linux",
        "machine": "x86_64",
        "isa": "avx512",
        "cxx": "g++ 12.2.0",
        "triton": None,
        "cuda": None,
    }
    return Environment(**fields | changes)  # type: ignore[arg-type]
