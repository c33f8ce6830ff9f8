"""Does ``torch.compile`` work on a one-liner, and how long does it take?"""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient
from compilefix.text import first_line

ORDER = 90
SUBJECT = "torch.compile"


def examine(patient: Patient) -> Iterator[Finding]:
    """Say the seconds of the first and of a second compile, or what went wrong."""
    found = patient.said.get("compile")
    if found is None:
        if patient.torch is not None:
            yield Finding(subject=SUBJECT, state=State.NOT_MEASURED, says="a one-liner was not compiled")
        return
    if "error" in found:
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=f"fails: {first_line(found['error'])}")
    elif found["graphs"] == 0:
        says = "compiles nothing: it is turned off, see variables and settings"
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says)
    elif not found["right"]:
        says = "a one-liner comes out wrong"
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says, mend="compilefix check")
    else:
        first, second = found["seconds"]
        yield Finding(subject=SUBJECT, state=State.OK, says=f"a one-liner took {first} s, and {second} s once more")
