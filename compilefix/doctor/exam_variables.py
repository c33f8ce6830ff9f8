"""Do variables of the environment change what torch.compile does?"""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient

ORDER = 70
SUBJECT = "variables"
OFF = {
    "TORCH_COMPILE_DISABLE": "torch.compile does nothing",
    "TORCHDYNAMO_DISABLE": "torch.compile does nothing",
    "TORCHDYNAMO_SUPPRESS_ERRORS": "errors of the compiler fall back to plain code in silence",
    "TORCH_COMPILE_FORCE_DISABLE_CACHES": "nothing is cached: every start compiles anew",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "nothing is cached: every start compiles anew",
    "TRITON_INTERPRET": "every Triton kernel runs in Python, a thousand times slower",
    "TORCH_COMPILE_DEBUG": "every compile writes its intermediate results to disk",
    "TORCHDYNAMO_REPRO_AFTER": "every graph is saved for the minifier",
    "TORCHDYNAMO_REPRO_LEVEL": "every graph is run again and compared",
}
"""Variable to what it does while it is set to anything but 0."""


def examine(patient: Patient) -> Iterator[Finding]:
    """Say what is set, and what turns something off."""
    found = {name: patient.environ[name] for name in patient.steering()}
    for name, value in found.items():
        strong = name in OFF and value not in ("0", "")
        says = f"{name}={value}" + (f": {OFF[name]}" if strong else "")
        state = State.PROBLEM if strong else State.NOTE
        yield Finding(subject=SUBJECT, state=state, says=says, mend=f"unset {name}" if strong else None)
    if not found:
        yield Finding(subject=SUBJECT, state=State.OK, says="none that steers the compiler is set")
