"""Does ``torch.compile`` work on a one-liner, and how long does it take?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from compilefix.doctor import folders
from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.exam_torch import reinstall
from compilefix.doctor.patient import CACHES, COMPILERS, VARIABLES, Patient
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
        says = f"fails: {first_line(found['error'])}{_told(patient)}"
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says, mend=_mend(patient))
    elif found["graphs"] == 0:
        says = f"compiles nothing: it is turned off{_told(patient)}"
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says, mend=_mend(patient))
    elif not found["right"]:
        says = f"a one-liner comes out wrong{_told(patient)}"
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says, mend=_mend(patient))
    else:
        first, second = found["seconds"]
        yield Finding(subject=SUBJECT, state=State.OK, says=f"a one-liner took {first} s, and {second} s once more")


def _told(patient: Patient) -> str:
    told = {VARIABLES: "; it works without variables that are set", CACHES: "; it works with empty caches"}
    return told.get(patient.cured_by or "", "; neither unset variables nor empty caches help")


def _mend(patient: Patient) -> str:
    """Return the command that was seen to help; where nothing did, the one that puts torch's own files right."""
    if patient.cured_by == VARIABLES:
        return "unset " + " ".join(sorted({*patient.steering(), *COMPILERS} & set(patient.environ)))
    cache = folders.inductor(patient)
    if patient.cured_by == CACHES and cache is not None and os.access(cache, os.W_OK):
        return f"rm -r {shlex.quote(str(cache))}"
    return "export TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)" if patient.cured_by == CACHES else reinstall(patient)
