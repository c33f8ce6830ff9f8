"""The exams, each on a patient that has what it looks for and on one that has not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compilefix import doctor
from compilefix.doctor import (
    Finding,
    Patient,
    State,
    exam_bisector,
    exam_caches,
    exam_compile,
    exam_compiler,
    exam_cuda,
    exam_disk,
    exam_isa,
    exam_leftovers,
    exam_settings,
    exam_torch,
    exam_triton,
    exam_variables,
    folders,
)
from tests.conftest import CACHE

SAID: dict[str, Any] = {
    "torch": "2.13.0",
    "git": "0123456789",
    "import_seconds": 1.5,
    "cuda_build": None,
    "cuda": {"available": False},
    "inductor": {"isa": "avx2", "cxx": "g++"},
    "settings": {"torch._inductor.config": []},
    "compile": {"seconds": [9.0, 1.0], "graphs": 2, "right": True},
}


def patient(environ: dict[str, str] | None = None, died: str | None = None, **said: Any) -> Patient:
    return Patient(environ=environ or {}, python="python", said=SAID | said, died=died)


def only(exam: Any, who: Patient) -> Finding:
    (finding,) = exam.examine(who)
    return finding


def test_every_exam_is_found_by_its_file_name() -> None:
    files = sorted(p.stem for p in Path(doctor.__file__).parent.glob("exam_*.py"))
    assert sorted(module.__name__.split(".")[-1] for module in doctor.exams()) == files  # type: ignore[attr-defined]


def test_torch_that_does_not_import_names_why_and_the_command() -> None:
    broken = Patient(environ={}, python="py", said={"import_error": "ImportError: libgomp.so.1: cannot open"})
    finding = only(exam_torch, broken)
    assert finding.state is State.PROBLEM
    assert "libgomp.so.1" in finding.says
    assert (finding.mend or "").startswith("py -m pip install")


def test_a_torch_that_kills_its_process_is_a_problem_too() -> None:
    found = list(exam_torch.examine(patient(died="a process that used torch was killed by signal 11")))
    assert [f.state for f in found] == [State.OK, State.PROBLEM]
    assert found[1].mend


@pytest.mark.parametrize(
    ("compile", "state", "says"),
    [
        ({"seconds": [9.0, 1.0], "graphs": 2, "right": True}, State.OK, "took 9.0 s"),
        ({"seconds": [9.0, 1.0], "graphs": 0, "right": True}, State.PROBLEM, "compiles nothing"),
        ({"seconds": [9.0, 1.0], "graphs": 2, "right": False}, State.PROBLEM, "comes out wrong"),
        ({"error": "InductorError: no compiler"}, State.PROBLEM, "no compiler"),
    ],
)
def test_the_one_liner(compile: dict[str, Any], state: State, says: str) -> None:
    finding = only(exam_compile, patient(compile=compile))
    assert finding.state is state
    assert says in finding.says
    assert bool(finding.mend) == (state is State.PROBLEM)


@pytest.mark.parametrize(
    ("cured_by", "mend"),
    [
        ("variables", "unset CXX TORCH_COMPILE_DISABLE"),
        ("caches", "rm -r {cache}"),
        (None, "python -m pip install --force-reinstall torch=={torch}"),
    ],
)
def test_a_one_liner_that_fails_names_what_was_seen_to_help(tmp_path: Path, cured_by: str | None, mend: str) -> None:
    around = {"CXX": "x", "TORCH_COMPILE_DISABLE": "1", "HOME": "/", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    who = Patient(environ=around, python="python", said=SAID | {"compile": {"error": "E: x"}}, cured_by=cured_by)
    assert only(exam_compile, who).mend == mend.format(cache=tmp_path, torch=metadata.version("torch"))


def test_an_unwritable_cache_that_is_in_the_way_is_replaced(tmp_path: Path) -> None:
    around = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "absent")}
    who = Patient(environ=around, python="python", said=SAID | {"compile": {"error": "E: x"}}, cured_by="caches")
    assert only(exam_compile, who).mend == "export TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)"


@pytest.mark.parametrize(
    ("trouble", "cuda", "state", "mend"),
    [
        (None, False, State.OK, None),
        ("Triton is not installed: pip install triton==3.7.1", False, State.NOTE, "pip install triton==3.7.1"),
        ("Triton is not installed: pip install triton==3.7.1", True, State.PROBLEM, "pip install triton==3.7.1"),
        ("triton 3.5.1 does not fit torch 2.13: pip install x", False, State.PROBLEM, "pip install x"),
    ],
)
def test_triton_and_whether_it_fits(
    trouble: str | None, cuda: bool, state: State, mend: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compilefix.cuda_interpreted.requirement.trouble", lambda: trouble)
    monkeypatch.setattr(metadata, "version", lambda name: "3.7.1")
    finding = only(exam_triton, patient(cuda={"available": cuda}))
    assert (finding.state, finding.mend) == (state, mend)


def test_a_compiler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(exam_compiler, patient({"CXX": "/no/such/g++"})).mend == "unset CXX"
    monkeypatch.setenv("PATH", "")
    finding = only(exam_compiler, patient())
    assert finding.state is State.PROBLEM
    assert "there is none" in finding.says


def test_a_compiler_that_does_not_build(tmp_path: Path) -> None:
    fake = tmp_path / "g++"
    fake.write_text("#!/bin/sh\necho 'fatal error: omp.h: No such file' >&2\nexit 1\n")
    fake.chmod(0o755)
    finding = only(exam_compiler, patient({"CXX": str(fake)}))
    assert finding.state is State.PROBLEM
    assert "omp.h" in finding.says


def test_the_compiler_of_this_machine_builds() -> None:
    assert only(exam_compiler, patient(dict(os.environ))).state is State.OK


def test_scalar_code_is_a_note() -> None:
    assert only(exam_isa, patient(inductor={"isa": "INVALID_VEC_ISA"})).state is State.NOTE
    assert only(exam_isa, patient(inductor={"isa_error": "RuntimeError: x"})).state is State.NOT_MEASURED


def test_no_gpu_is_not_measured_and_never_ok() -> None:
    assert only(exam_cuda, patient()).state is State.NOT_MEASURED


def test_a_driver_that_torch_cannot_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 470.1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert only(exam_cuda, patient(cuda_build="13.0")).state is State.PROBLEM
    assert only(exam_cuda, patient()).state is State.NOTE


def test_a_bisection_left_behind_names_the_folder_to_remove(tmp_path: Path) -> None:
    who = patient({"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)})
    assert only(exam_bisector, who).state is State.OK
    (tmp_path / "bisect").mkdir()
    (tmp_path / "bisect" / "bisect_status.txt").touch()
    assert only(exam_bisector, who).mend == f"rm -r {tmp_path / 'bisect'}"


def test_variables_that_turn_the_compiler_off_are_problems_and_others_notes() -> None:
    found = {
        f.says.split("=")[0]: f
        for f in exam_variables.examine(
            patient({"TORCH_COMPILE_DISABLE": "1", "TORCHINDUCTOR_MAX_AUTOTUNE": "1", "TORCH_LOGS": "recompiles"})
        )
    }
    assert {name: f.state for name, f in found.items()} == {
        "TORCH_COMPILE_DISABLE": State.PROBLEM,
        "TORCHINDUCTOR_MAX_AUTOTUNE": State.NOTE,
    }
    assert found["TORCH_COMPILE_DISABLE"].mend == "unset TORCH_COMPILE_DISABLE"
    assert only(exam_variables, patient({"TORCH_COMPILE_DISABLE": "0"})).state is State.NOTE
    assert only(exam_variables, patient()).state is State.OK


def test_changed_settings_are_notes() -> None:
    changed = {"torch._inductor.config": ["torch._inductor.config.max_fusion_size = 1"]}
    assert only(exam_settings, patient(settings=changed)).says.startswith("torch._inductor.config.max_fusion_size = 1")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = list(exam_caches.examine(patient({"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "file" / "inside")})))
    assert found[0].state is State.PROBLEM
    assert (found[0].mend or "").startswith("export TORCHINDUCTOR_CACHE_DIR=")


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", nobody)
    found = list(exam_caches.examine(patient()))
    assert (found[0].state, found[0].mend) == (State.PROBLEM, "export TORCHINDUCTOR_CACHE_DIR=/tmp/torchinductor")


def test_caches_of_other_releases_are_named_with_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "own", lambda: tmp_path)
    (tmp_path / "torch-2.6.0").mkdir()
    (tmp_path / "torch-2.6.0" / "object").write_bytes(b"x" * 2048)
    (tmp_path / "torch-2.13.0").mkdir()
    stale = list(exam_leftovers.examine(patient({"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)})))[-1]
    assert "torch-2.6.0 (2.0 KiB)" in stale.says
    assert "2.13" not in (stale.mend or "")


def test_objects_that_are_cut_off_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole shared object passes; one byte less is a problem, as is an empty file."""
    monkeypatch.setattr(folders, "own", lambda: tmp_path / "own")
    who = patient({"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)})
    built = tmp_path / "ab" / "cabc.so"
    built.parent.mkdir()
    source = tmp_path / "empty.c"
    source.write_text("int zero(void) { return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(built)], check=True)
    assert list(exam_leftovers.examine(who)) == []
    whole = built.read_bytes()
    for cut in (whole[:-1], whole[:40], b""):
        built.write_bytes(cut)
        assert list(exam_leftovers.examine(who)) == []  # it may be a linker at work
        os.utime(built, (time.time() - 120, time.time() - 120))
        finding = only(exam_leftovers, who)
        assert (finding.state, finding.mend) == (State.PROBLEM, f"rm -r {built}")


def test_what_an_older_torch_wrote_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "own", lambda: tmp_path / "own")
    monkeypatch.setattr(exam_leftovers, "LARGE", 100)
    old, new = tmp_path / "old", tmp_path / "new"
    for path in (old, new):
        path.write_bytes(b"x" * 2048)
    installed = folders.installed_at()
    assert installed is not None
    os.utime(old, (installed - 10, installed - 10))
    os.utime(new, (installed + 10, installed + 10))
    finding = only(exam_leftovers, patient({"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}))
    assert finding.state is State.NOTE
    assert finding.says.startswith("2.0 KiB of it")


def test_a_full_disk_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(f.state is State.OK for f in exam_disk.examine(patient()))
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=5, total=50))
    assert all(f.state is State.PROBLEM for f in exam_disk.examine(patient()))


def test_the_probe_tells_of_the_torch_that_is_here(tmp_path: Path) -> None:
    hook = "import torch._inductor.config\ntorch._inductor.config.max_fusion_size = 7\n"
    (tmp_path / "sitecustomize.py").write_text(hook)
    around = {**os.environ, "PYTHONPATH": str(tmp_path), "TORCHINDUCTOR_CACHE_DIR": str(CACHE / "doctor")}
    who = doctor.meet(around, compile=False)
    assert who.died is None
    assert (who.torch or "").split("+")[0] == metadata.version("torch").split("+")[0]
    assert who.said["inductor"]["cxx"]
    assert any("max_fusion_size = 7" in line for line in who.said["settings"]["torch._inductor.config"])


def test_a_probe_that_dies_or_hangs_is_a_fact(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    who = doctor.meet({**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}, compile=False)
    assert "killed by signal 11" in (who.died or "")
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(60)\n")
    who = doctor.meet({**os.environ, "PYTHONPATH": str(tmp_path)}, compile=False, seconds=5)
    assert "not done after 5 s" in (who.died or "")
    assert sys.executable == who.python
