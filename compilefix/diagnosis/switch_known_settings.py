"""Which settings this torch has, and how they stand for this program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from compilefix.registry import Record
from compilefix.settings import MissingSettingError, current


@contextlib.contextmanager
def enter(told: list[str], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """Leave the values of the settings named in `told` in ``seen["settings"]``; those that torch lacks are left out."""
    found = seen["settings"] = {}
    for name in told:
        with contextlib.suppress(MissingSettingError):
            value = current(name)
            found[name] = value if isinstance(value, bool | int | float | str | None) else repr(value)
    yield
