"""What an examination of this machine found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from compilefix.errors import Exit

SCHEMA = 1


class State(str, Enum):
    """How one thing stands."""

    OK = "ok"
    PROBLEM = "problem"
    """torch.compile fails, or does something else than its documentation says, because of it."""

    NOTE = "note"
    """Worth knowing; nothing fails because of it."""

    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    state: State
    says: str
    mend: str | None = None
    """The one command that mends it, to be pasted into a shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """All findings about one Python on one machine."""

    torch: str | None
    python: str
    """Path of the interpreter that was examined."""

    findings: tuple[Finding, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Findings that need mending."""
        return tuple(f for f in self.findings if f.state is State.PROBLEM)

    def exit_code(self) -> Exit:
        """Return 1 where something needs mending, else 0."""
        return Exit.FINDINGS if self.problems else Exit.EXPECTED

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; stable, see `SCHEMA`."""
        findings = [
            {"subject": f.subject, "state": f.state.value, "says": f.says, "mend": f.mend} for f in self.findings
        ]
        return {
            "schema": SCHEMA,
            "torch": self.torch,
            "python": self.python,
            "problems": len(self.problems),
            "findings": findings,
        }
