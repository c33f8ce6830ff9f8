"""Exceptions that the machine caused are told from those that a record is about."""

from __future__ import annotations

from compilefix.issue import Issue, Symptom
from compilefix.oracle import Raised
from compilefix.outcome import Did
from compilefix.runner import execution

NO_COMPILER = Raised(
    "InductorError", "InvalidCxxCompiler: No working C++ compiler found in config: ('/bin/false',)", ("InductorError",)
)


def test_a_missing_compiler_is_the_machine_s_unless_the_record_names_one() -> None:
    """Without g++ a run is unsupported; where the record itself chooses a broken one, that is its error."""
    assert execution.raised_trouble(NO_COMPILER, None) == (Did.UNSUPPORTED, "no working C++ compiler")
    assert execution.raised_trouble(NO_COMPILER, None, own_compiler=True) is None
    memory = Raised("InductorError", "std::bad_alloc", ("InductorError",))
    assert execution.raised_trouble(memory, None, own_compiler=True) is not None


def test_a_record_names_the_compiler_by_its_setting() -> None:
    """Only ``torch._inductor.config.cpp.cxx`` makes a record one about the C++ compiler."""
    plain = Issue(symptom=Symptom.ERROR, stage="inductor")
    broken = Issue(symptom=Symptom.ERROR, stage="inductor", config={execution.CXX: ("/bin/false",)})
    assert not execution.names_compiler(plain)
    assert execution.names_compiler(broken)
