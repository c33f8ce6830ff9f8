"""Gather what the exams read: this process's surroundings, and what torch says of itself in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compilefix.environment import KEPT, SCRUBBED_PREFIXES
from compilefix.text import first_line

PATIENCE = 300.0
"""Seconds that torch's import and two compiles may take; a machine's first C++ compile takes 20."""

HARMLESS = frozenset({"TORCH_LOGS", "TORCH_TRACE", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", *KEPT})
"""Variables of torch's that may be set without changing what the compiler does."""

COMPILERS = ("CXX", "CC")
VARIABLES, CACHES = "variables", "caches"
"""What a second probe is run without, where the first one failed."""


@dataclass(frozen=True, kw_only=True)
class Patient:
    """One Python on this machine, as it is: no variable of the caller is taken out."""

    environ: Mapping[str, str]
    python: str
    said: Mapping[str, Any] = field(default_factory=dict)
    """What `probe` said of torch; empty where it did not come to say anything."""

    died: str | None = None
    """Why the probe said nothing."""

    cured_by: str | None = None
    """Without what a one-liner that failed compiles: `VARIABLES`, `CACHES`, or None."""

    @property
    def torch(self) -> str | None:
        """Version of torch, None where it does not import."""
        return self.said.get("torch")

    def variable(self, name: str) -> str | None:
        """Return a variable of the environment, None where it is unset or empty."""
        return self.environ.get(name) or None

    def steering(self) -> list[str]:
        """Return the variables that are set and steer torch's compiler."""
        return sorted(n for n in self.environ if n.startswith(SCRUBBED_PREFIXES) and n not in HARMLESS)


def meet(environ: Mapping[str, str] | None = None, *, compile: bool = True, seconds: float = PATIENCE) -> Patient:
    """
    Ask torch about itself in a process of its own and return the patient.

    `environ` is that of the process (default: the caller's); with `compile`, a one-liner is compiled twice and timed;
    where it fails, it is tried again without the variables that steer the compiler, then with empty caches, to see what
    mends it. A torch that does not import, hangs or dies is a fact of the patient, no error.
    """
    environ = dict(os.environ if environ is None else environ)
    said, died = _ask(environ, compile, seconds)
    patient = Patient(environ=environ, python=sys.executable, said=said, died=died)
    if compile and "torch" in said and not _compiles(said):
        return replace(patient, cured_by=_cure(patient, seconds))
    return patient


def _compiles(said: Mapping[str, Any]) -> bool:
    found = said.get("compile", {})
    return bool(found.get("graphs")) and bool(found.get("right"))


def _cure(patient: Patient, seconds: float) -> str | None:
    steering = {*patient.steering(), *COMPILERS} & set(patient.environ)
    with tempfile.TemporaryDirectory(prefix="compilefix-") as empty:
        without = {name: value for name, value in patient.environ.items() if name not in steering}
        fresh = {"TORCHINDUCTOR_CACHE_DIR": empty, "TRITON_CACHE_DIR": empty}
        trials = {VARIABLES: without if steering else None, CACHES: {**patient.environ, **fresh}}
        for name, environ in trials.items():
            if environ is not None and _compiles(_ask(environ, True, seconds)[0]):
                return name
    return None


def _ask(environ: Mapping[str, str], compile: bool, seconds: float) -> tuple[dict[str, Any], str | None]:
    """Run the probe; return what it said, and why it said no more."""
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (package, environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="compilefix-") as folder:
        reply = Path(folder) / "reply.json"
        command = [sys.executable, "-m", "compilefix.doctor.probe", str(reply), *(["--compile"] if compile else [])]
        died = None
        try:
            done = subprocess.run(
                command,
                env={**environ, "PYTHONPATH": path},
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
            if done.returncode < 0:
                died = f"a process that used torch was killed by signal {-done.returncode}"
            elif done.returncode:
                died = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            died = f"a process that used torch was not done after {seconds:g} s"
        said = json.loads(reply.read_text(encoding="utf-8")) if reply.exists() else {}
    return said, died and first_line(died)
