"""Is Triton there, and is it the release that fits this torch?"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from compilefix.cuda_interpreted import requirement
from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 30
SUBJECT = "Triton"


def examine(patient: Patient) -> Iterator[Finding]:
    """A GPU needs it; without one it is what runs CUDA's path interpreted."""
    trouble = requirement.trouble()
    if trouble is None:
        yield Finding(subject=SUBJECT, state=State.OK, says=f"{metadata.version('triton')}, fits this torch")
        return
    says, _, command = trouble.partition(": ")
    needed = bool(patient.said.get("cuda", {}).get("available")) or "does not fit" in trouble
    yield Finding(
        subject=SUBJECT,
        state=State.PROBLEM if needed else State.NOTE,
        says=says if command else trouble,
        mend=command or None,
    )
