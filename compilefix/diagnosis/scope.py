"""Inside a probe: set the switches that were asked for around the compiled run, and tell what they saw."""

from __future__ import annotations

import importlib
import json
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Protocol, cast

from compilefix.registry import Record


class Switch(Protocol):
    """What a module ``switch_<name>.py`` of this package defines."""

    def enter(self, told: Any, record: Record, seen: dict[str, Any]) -> AbstractContextManager[Any]:
        """Return what changes the compiler as `told`; it may leave JSON in `seen` for the asking side."""


class Switched:
    """The switches of one probe; entered around every run."""

    def __init__(self, record: Record, told: dict[str, Any]) -> None:
        self._record = record
        self._told = told
        self._seen: dict[str, Any] = {}
        self._stacks: list[ExitStack] = []

    def __enter__(self) -> Switched:
        stack = ExitStack()
        for name, told in self._told.items():
            switch = cast(Switch, importlib.import_module(f"compilefix.diagnosis.switch_{name}"))
            stack.enter_context(switch.enter(told, self._record, self._seen))
        self._stacks.append(stack)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stacks.pop().__exit__(*raised)

    def facts(self) -> dict[str, Any]:
        """Return what the switches saw."""
        return self._seen


def scope(record: Record, argument: str) -> Switched:
    """Return the scope of one probe; `argument` is the file that says which switches are set."""
    return Switched(record, json.loads(Path(argument).read_text(encoding="utf-8")))
