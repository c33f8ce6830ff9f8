"""Which vector instructions does Inductor use here?"""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient
from compilefix.text import first_line

ORDER = 20
SUBJECT = "vector instructions"


def examine(patient: Patient) -> Iterator[Finding]:
    """Say the instruction set, or that there is none and code runs scalar."""
    found = patient.said.get("inductor", {})
    if "isa" in found:
        none = found["isa"].upper().startswith("INVALID") or not found["isa"]
        says = "none: CPU code is scalar, and several times slower" if none else found["isa"]
        yield Finding(subject=SUBJECT, state=State.NOTE if none else State.OK, says=says)
    elif patient.torch is not None:
        why = first_line(str(found.get("isa_error") or found.get("error") or "torch did not say"))
        yield Finding(subject=SUBJECT, state=State.NOT_MEASURED, says=why)
