"""Is there a C++ compiler that builds what Inductor writes?"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compilefix.doctor.checkup import Finding, State
from compilefix.doctor.patient import Patient
from compilefix.environment import compiler_command

ORDER = 10
SUBJECT = "C++ compiler"
PROGRAM = """\
#include <Python.h>
#include <omp.h>
extern "C" int threads() { return omp_get_max_threads(); }
"""
INSTALL = (
    ("apt-get", "apt-get install -y g++"),
    ("dnf", "dnf install -y gcc-c++"),
    ("apk", "apk add g++"),
    ("pacman", "pacman -S --noconfirm gcc"),
    ("brew", "xcode-select --install"),
)
"""Package manager to the command that installs a compiler with it."""


def examine(patient: Patient) -> Iterator[Finding]:
    """Build one shared object with Python's headers and OpenMP, as Inductor does."""
    command = compiler_command(patient.environ)
    install = next((text for tool, text in INSTALL if shutil.which(tool)), None)
    if command is None or shutil.which(command) is None:
        says = f"CXX names {command}, which is not there" if command else "there is none: Inductor's CPU code needs one"
        yield Finding(subject=SUBJECT, state=State.PROBLEM, says=says, mend="unset CXX" if command else install)
        return
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
    wrong = _builds(command)
    if wrong is None:
        yield Finding(subject=SUBJECT, state=State.OK, says=version[0] if version else command)
        return
    mend = install
    if "Python.h" in wrong and shutil.which("apt-get"):
        mend = f"apt-get install -y python{sys.version_info.major}.{sys.version_info.minor}-dev"
    yield Finding(subject=SUBJECT, state=State.PROBLEM, says=f"{command} does not build: {wrong}", mend=mend)


def _builds(command: str) -> str | None:
    with tempfile.TemporaryDirectory(prefix="compilefix-") as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(PROGRAM, encoding="utf-8")
        flags = ["-std=c++17", "-shared", "-fPIC", "-fopenmp"] if sys.platform == "linux" else ["-std=c++17", "-c"]
        include = sysconfig.get_path("include")
        program = [command, *flags, f"-I{include}", str(source), "-o", str(Path(folder) / "probe.so")]
        try:
            done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
    return (lines[0] if lines else f"exit code {done.returncode}") if done.returncode else None
