"""Do torch's CUDA build and the driver go together?"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 40
SUBJECT = "CUDA"


def examine(patient: Patient) -> Iterator[Finding]:
    """Say which GPUs torch sees; a driver that torch cannot use is a problem, no GPU is none."""
    if patient.torch is None:
        return
    built, found, driver = patient.said.get("cuda_build"), patient.said.get("cuda", {}), _driver()
    if found.get("available"):
        says = f"{', '.join(found['devices'])}; torch built for CUDA {built}, driver {driver or 'unknown'}"
        yield Finding(subject=SUBJECT, state=State.OK, says=says)
    elif driver and built:
        says = (
            f"driver {driver} is there, but this torch (CUDA {built}) cannot use it: {found.get('error', 'too old?')}"
        )
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says, mend="nvidia-smi")
    elif driver:
        says = f"driver {driver} is there, but this torch is a CPU build"
        mend = f"{patient.python} -m pip install --force-reinstall torch"
        yield Finding(subject=SUBJECT, state=State.NOTE, says=says, mend=mend)
    else:
        built_for = f"built for CUDA {built}" if built else "a CPU build"
        yield Finding(subject=SUBJECT, state=State.NOT_MEASURED, says=f"no GPU or no driver here; torch is {built_for}")


def _driver() -> str | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.split("\n")[0].strip() or None if done.returncode == 0 else None
