"""Settings of torch that avoid the defect, as far as this torch has them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from compilefix import environment
from compilefix.registry import Record
from compilefix.workarounds.interface import Scope

WIDTH = 2


def offers(record: Record) -> str | None:
    """Name the settings; None where there are none or this torch lacks one."""
    wanted = record.known.workaround_config
    if not wanted or not all(environment.feature("setting", name) for name in wanted):
        return None
    return ", ".join(f"{name}={value!r}" for name, value in wanted.items())


def scope(record: Record) -> Scope:
    """Return the scope in which the settings are on; it must be open when the code is compiled."""
    return Scope(lambda: _patched(record))


@contextlib.contextmanager
def _patched(record: Record) -> Iterator[None]:
    before: list[tuple[Any, str, Any]] = []
    for name, value in record.known.workaround_config.items():
        module, _, rest = name.partition(".config.")
        owner: Any = importlib.import_module(f"{module}.config")
        *path, last = rest.split(".")
        for part in path:
            owner = getattr(owner, part)
        before.append((owner, last, getattr(owner, last)))
        setattr(owner, last, value)
    try:
        yield
    finally:
        for owner, last, value in reversed(before):
            setattr(owner, last, value)
