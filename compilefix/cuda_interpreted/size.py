"""Will a launch come to an end in time? Told from its first accesses, before the time is spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from compilefix.cuda_interpreted.problems import TooLargeError

LOOK = 0.4
"""Seconds of a launch after which the rest is estimated."""

SHARE = 0.9
"""Share of the time that kernels may take; the rest is for comparing."""


@dataclass
class Budget:
    """Until when this process may interpret; without a limit everything fits."""

    end: float | None = None

    def set(self, seconds: float | None) -> None:
        """Allow `seconds` from now on, None for any time."""
        self.end = None if seconds is None else time.monotonic() + SHARE * seconds


BUDGET = Budget()


@dataclass
class Meter:
    """How far one launch is, counted in loads and stores."""

    kernel: str
    programs: int
    per_program: int
    """Accesses that one program makes, as its source tells them."""

    begun: float = field(default_factory=time.monotonic)
    done: int = 0

    def tick(self) -> None:
        """Count one access; raise `TooLargeError` where the launch would not end in time."""
        self.done += 1
        if BUDGET.end is None:
            return
        now = time.monotonic()
        spent = now - self.begun
        total = max(self.programs * self.per_program, self.done)
        needed = spent / self.done * total
        if now > BUDGET.end or (spent > LOOK and self.begun + needed > BUDGET.end):
            raise TooLargeError(self.kernel, self.programs, self.per_program, needed)
