"""Are settings of the compiler changed before the first line of a program runs?"""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 80
SUBJECT = "settings"
MACHINE = ("compile_threads", "_micro_pipeline_tp", "worker_start_method", "descriptive_names", "cache_dir")
"""Settings that torch itself derives from the machine."""


def examine(patient: Patient) -> Iterator[Finding]:
    """List settings that differ from torch's defaults in a fresh process: a hook of the installation sets them."""
    if patient.torch is None or "settings" not in patient.said:
        return
    lines = [
        line
        for module, changed in sorted(patient.said["settings"].items())
        for line in (changed if isinstance(changed, list) else [f"{module}: {changed}"])
        if "=" in line and not any(name in line for name in MACHINE)
    ]
    for line in lines:
        yield Finding(subject=SUBJECT, state=State.NOTE, says=f"{line} is not torch's default")
    if not lines:
        yield Finding(subject=SUBJECT, state=State.OK, says="all are torch's defaults in a fresh process")
