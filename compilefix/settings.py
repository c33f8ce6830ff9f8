"""Settings of torch by their full dotted names, such as ``torch._inductor.config.cpp.simdlen``."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any


class MissingSettingError(Exception):
    """A setting that this torch does not have."""


@contextlib.contextmanager
def patched(wanted: Mapping[str, object]) -> Iterator[None]:
    """Set `wanted` inside of the block, and back behind it; raise `MissingSettingError` for an unknown one."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for name, value in wanted.items():
            owner, last = _find(name)
            before.append((owner, last, getattr(owner, last)))
            setattr(owner, last, value)
        yield
    finally:
        for owner, last, value in reversed(before):
            setattr(owner, last, value)


def current(name: str) -> Any:
    """Return the value of a setting; raise `MissingSettingError` for an unknown one."""
    owner, last = _find(name)
    return getattr(owner, last)


def _find(name: str) -> tuple[Any, str]:
    module, _, rest = name.partition(".config.")
    owner: Any = importlib.import_module(f"{module}.config")
    *path, last = rest.split(".")
    for part in path:
        owner = getattr(owner, part, None)
    if owner is None or not hasattr(owner, last):
        raise MissingSettingError(f"this torch has no setting {name}")
    return owner, last
