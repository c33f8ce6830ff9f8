"""Settings of torch, by their full names."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from compilefix.registry import Record
from compilefix.settings import patched


def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> AbstractContextManager[None]:
    """Set `told`; raises `MissingSettingError` for one that this torch lacks, which makes the probe unsupported."""
    return patched(told)
