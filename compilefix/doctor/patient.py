"""Gather what the exams read: this process's surroundings, and what torch says of itself in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilefix.text import first_line

PATIENCE = 300.0
"""Seconds that torch's import and two compiles may take; a machine's first C++ compile takes 20."""


@dataclass(frozen=True, kw_only=True)
class Patient:
    """One Python on this machine, as it is: no variable of the caller is taken out."""

    environ: Mapping[str, str]
    python: str
    said: Mapping[str, Any] = field(default_factory=dict)
    """What `probe` said of torch; empty where it did not come to say anything."""

    died: str | None = None
    """Why the probe said nothing."""

    @property
    def torch(self) -> str | None:
        """Version of torch, None where it does not import."""
        return self.said.get("torch")

    def variable(self, name: str) -> str | None:
        """Return a variable of the environment, None where it is unset or empty."""
        return self.environ.get(name) or None


def meet(environ: Mapping[str, str] | None = None, *, compile: bool = True, seconds: float = PATIENCE) -> Patient:
    """
    Ask torch about itself in a process of its own and return the patient.

    `environ` is that of the process (default: the caller's); with `compile`, a one-liner is compiled twice and timed.
    A torch that does not import, hangs or dies is a fact of the patient, no error.
    """
    environ = dict(os.environ if environ is None else environ)
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (package, environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="compilefix-") as folder:
        reply = Path(folder) / "reply.json"
        command = [sys.executable, "-m", "compilefix.doctor.probe", str(reply), *(["--compile"] if compile else [])]
        died = None
        try:
            done = subprocess.run(
                command,
                env=environ | {"PYTHONPATH": path},
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
    return Patient(environ=environ, python=sys.executable, said=said, died=died and first_line(died))
