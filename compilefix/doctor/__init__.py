"""Is this machine able to compile at all? Each examination is one file, ``exam_<subject>.py``, found by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Protocol, cast

from compilefix.doctor.checkup import Checkup, Finding, State
from compilefix.doctor.patient import Patient, meet

__all__ = ["Checkup", "Exam", "Finding", "Patient", "State", "examine", "exams", "meet"]


class Exam(Protocol):
    """What a module called ``exam_<subject>`` defines. It reads the patient and changes nothing."""

    ORDER: int
    """Exams are listed by this number: what others rest on comes first."""

    def examine(self, patient: Patient) -> Iterator[Finding]:
        """Yield what was found, good and bad."""


def exams() -> tuple[Exam, ...]:
    """Return all exams in their order."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("exam_")]
    modules = [cast(Exam, importlib.import_module(f"{__name__}.{name}")) for name in names]
    return tuple(sorted(modules, key=lambda module: module.ORDER))


def examine(patient: Patient) -> Checkup:
    """Run every exam on `patient`."""
    return Checkup(
        torch=patient.torch, python=patient.python, findings=tuple(f for exam in exams() for f in exam.examine(patient))
    )
