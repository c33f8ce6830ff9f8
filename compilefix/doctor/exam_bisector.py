"""Has a bisection left its state behind? It silently turns parts of the compiler off."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from compilefix.doctor import folders
from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 60
SUBJECT = "bisector"


def examine(patient: Patient) -> Iterator[Finding]:
    """Look for the state of torch's CompilerBisector (``torch/_inductor/compiler_bisector.py``)."""
    cache = folders.inductor(patient)
    state = cache / "bisect" if cache is not None else None
    if state is not None and state.is_dir() and any(state.iterdir()):
        yield Finding(
            subject=SUBJECT,
            state=State.PROBLEM,
            says=f"{state} is left from a bisection: torch.compile runs with parts of it turned off",
            mend=f"rm -r {shlex.quote(str(state))}",
        )
    else:
        yield Finding(subject=SUBJECT, state=State.OK, says="no state of a bisection is left")
