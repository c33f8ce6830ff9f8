"""Settings of torch that avoid the defect, as far as this torch has them."""

from __future__ import annotations

from compilefix import environment
from compilefix.registry import Record
from compilefix.settings import patched
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
    return Scope(lambda: patched(record.known.workaround_config))
