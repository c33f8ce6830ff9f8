"""Will a launch come to an end in time? Told from its first accesses, before the time is spent."""

from __future__ import annotations

import time
from dataclasses import dataclass

from compilefix.cuda_interpreted.problems import TooLargeError

LOOK = 0.4
"""Seconds of a launch after which the rest is estimated at the earliest."""

PART = 0.05
"""Part of the time left after which it is estimated at the earliest."""

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

    begun: float = 0.0
    """When the first access had come, what precedes it being paid only once."""

    done: int = -1

    def tick(self) -> None:
        """Count one access; raise `TooLargeError` where the launch would not end in time."""
        if BUDGET.end is None:
            return
        now = time.monotonic()
        self.done += 1
        self.begun = self.begun or now
        spent = now - self.begun
        if now > BUDGET.end or spent > max(LOOK, PART * (BUDGET.end - self.begun)):
            total = max(self.programs * self.per_program, self.done)
            needed = spent / max(self.done, 1) * total
            if now > BUDGET.end or self.begun + needed > BUDGET.end:
                raise TooLargeError(self.kernel, self.programs, self.per_program, needed)
