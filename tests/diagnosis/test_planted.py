"""Faults planted in every layer of the compiler are found where they were planted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compilefix.diagnosis.result import Conclusion

from .conftest import Diagnose

PLANTED = sorted((Path(__file__).parent / "planted").glob("*.py"))

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", PLANTED, ids=lambda path: path.stem)
def test_a_planted_fault_is_found(path: Path, diagnose: Diagnose) -> None:
    """Each file says in CULPRIT what a diagnosis must find."""
    match = re.search(r'^CULPRIT = "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None
    found = diagnose(f"{path}:program", timeout=120)
    assert found.conclusion is Conclusion.DEFECT
    assert [culprit.key for culprit in found.culprits] == [match[1]]


def test_every_layer_has_a_planted_fault() -> None:
    """Ten kinds and more."""
    assert len(PLANTED) >= 12
