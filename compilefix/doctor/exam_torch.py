"""Does torch import?"""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient
from compilefix.environment import installed_torch
from compilefix.text import first_line

ORDER = 0
SUBJECT = "torch"


def examine(patient: Patient) -> Iterator[Finding]:
    """Say the version, or why there is none."""
    if patient.torch is not None:
        git = str(patient.said.get("git") or "unknown")[:8]
        says = f"{patient.torch} ({git}), imported in {patient.said['import_seconds']} s"
        yield Finding(subject=SUBJECT, state=State.OK, says=says)
        if patient.died:
            yield Finding(subject=SUBJECT, state=State.PROBLEM, says=patient.died, mend=reinstall(patient))
        return
    pip = f"{patient.python} -m pip install"
    if installed_torch() is None:
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says="is not installed", mend=f"{pip} torch")
        return
    why = first_line(str(patient.said.get("import_error") or patient.died or "no reason given"))
    yield Finding(subject=SUBJECT, state=State.PROBLEM, says=f"does not import: {why}", mend=reinstall(patient))


def reinstall(patient: Patient) -> str:
    """Return the command that installs the very release anew."""
    return f"{patient.python} -m pip install --force-reinstall torch=={installed_torch() or patient.torch}"
