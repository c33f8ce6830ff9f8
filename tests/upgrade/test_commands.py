"""The user's command runs with the torch of one release, test by test, and says nothing where it cannot."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from compilefix.upgrade import commands
from compilefix.upgrade.commands import Place, Run
from tests.upgrade.shims import shim, shim_place

TESTS = """
import os, signal
import pytest
import torch


class Wrapped(Exception):
    pass


def inner():
    raise ValueError("at 0x12ab of [2, 3]")


def test_passes():
    assert torch.__version__ == "2.9.1+stub"


def test_fails():
    try:
        inner()
    except ValueError as error:
        raise Wrapped("outer") from error


@pytest.fixture
def broken():
    raise KeyError("setup")


def test_setup(broken):
    pass


@pytest.mark.skip
def test_skipped():
    pass


@pytest.mark.xfail
def test_xfails():
    assert False
"""


def project(folder: Path, **files: str) -> Path:
    """Write files and return their folder."""
    root = folder / "project"
    root.mkdir()
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return root


def pytest_run(folder: Path, text: str, *arguments: str, timeout: float | None = None) -> Run:
    """Run a file of tests with a shim of 2.9.1."""
    root = project(folder, test_it=text)
    return commands.run(shim_place(folder, "2.9.1"), ["pytest", "-q", *arguments], cwd=root, timeout=timeout)


def test_pytest_is_recorded_test_by_test(tmp_path: Path) -> None:
    """Passed is what passed; the root cause of a wrapped error counts, with the user's frame."""
    done = pytest_run(tmp_path, TESTS)
    assert (done.torch, done.exit_code, done.invalid) == ("2.9.1+stub", 1, None)
    assert done.passed == ("test_it.py::test_passes",)
    assert done.skipped == 2
    told = {f.test.partition("::")[2]: str(f.signature) for f in done.failures}
    assert told == {
        "test_fails": "ValueError: at <address> of <shape> (in test_it.py:inner)",
        "test_setup": "KeyError: 'setup' (in test_it.py:broken)",
    }
    assert {f.when for f in done.failures} == {"call", "setup"}
    assert "def inner" in next(f.source for f in done.failures if f.when == "call")
    assert Run.from_json(done.to_json()) == done


def test_a_process_that_dies_is_a_failure_of_the_running_test(tmp_path: Path) -> None:
    """What had passed before stays passed; what would have come after is nothing."""
    text = "import os\ndef test_a(): pass\ndef test_b(): os.kill(os.getpid(), 11)\ndef test_c(): pass\n"
    done = pytest_run(tmp_path, text)
    assert done.signal == "SIGSEGV"
    assert done.passed == ("test_it.py::test_a",)
    assert [(f.test, f.error) for f in done.failures] == [("test_it.py::test_b", "SIGSEGV")]
    assert done.failures[0].frame == "test_it.py:test_b"
    assert done.invalid is None


def test_a_worker_that_dies_is_told_with_its_test(tmp_path: Path) -> None:
    """Under xdist the other tests go on, and each is recorded once."""
    text = "import os\ndef test_a(): pass\ndef test_b(): os.kill(os.getpid(), 11)\ndef test_c(): raise ValueError(3)\n"
    done = pytest_run(tmp_path, text, "-n", "2")
    assert done.passed == ("test_it.py::test_a",)
    assert {str(f.signature) for f in done.failures} == {
        "SIGNAL: the process died (in test_it.py:test_b)",
        "ValueError: <n> (in test_it.py:test_c)",
    }


def test_a_test_that_hangs_is_a_hang(tmp_path: Path) -> None:
    """The time limit ends the whole run; the test that was running is named."""
    done = pytest_run(tmp_path, "import time\ndef test_a(): time.sleep(600)\n", timeout=8)
    assert done.timed_out
    assert [(f.test, f.error) for f in done.failures] == [("test_it.py::test_a", "Timeout")]


@pytest.mark.parametrize(
    ("text", "arguments", "why"),
    [
        ("import nonsense\ndef test_a(): pass\n", (), "ModuleNotFoundError"),
        ("def test_a(): raise KeyboardInterrupt\n", (), "interrupted"),
        ("def test_a(): pass\n", ("--no-such-option",), "called wrongly|did not start"),
        ("x = 1\n", (), "no tests were collected"),
    ],
    ids=["import", "interrupt", "usage", "nothing"],
)
def test_a_pytest_run_that_did_not_test_says_nothing(
    tmp_path: Path, text: str, arguments: tuple[str, ...], why: str
) -> None:
    """It is invalid, with the reason."""
    done = pytest_run(tmp_path, text, *arguments)
    assert done.invalid is not None
    assert any(part in done.invalid for part in why.split("|"))
    assert not done.passed


def test_a_removed_torch_name_is_a_failure_and_no_accident(tmp_path: Path) -> None:
    """Importing what the release lacks is what an upgrade breaks."""
    done = pytest_run(tmp_path, "from torch import gone\ndef test_a(): pass\n")
    assert done.invalid is None
    assert [(f.when, f.error) for f in done.failures] == [("collect", "ImportError")]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("raise RuntimeError('bad 3')", "RuntimeError: bad <n> (in main.py:step)"),
        ("os.kill(os.getpid(), signal.SIGABRT)", "SIGABRT"),
        ("sys.exit(3)", "exit 3: last words"),
    ],
)
def test_any_other_command_fails_by_traceback_signal_or_exit_code(tmp_path: Path, body: str, error: str) -> None:
    """In this order."""
    text = f"import os, signal, sys, torch\nprint('last words', flush=True)\ndef step():\n    {body}\nstep()\n"
    root = project(tmp_path, main=text)
    done = commands.run(shim_place(tmp_path, "2.9.1"), ["python", "main.py"], cwd=root)
    assert [str(f.signature) for f in done.failures] == [error]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["no-such-command"], "command not found"),
        (["python", "-c", "import nonsense"], "ModuleNotFoundError"),
        (["sh", "-c", "exit 125"], "cannot be tested"),
        (["sh", "-c", "no-such-command"], "not found"),
        (["sh", "-c", "kill -INT $$"], "interrupted"),
    ],
)
def test_a_command_that_did_not_run_says_nothing(tmp_path: Path, command: list[str], why: str) -> None:
    """Neither passed nor failed."""
    done = commands.run(shim_place(tmp_path, "2.9.1"), command, cwd=tmp_path)
    assert done.invalid is not None
    assert why in done.invalid
    assert not done.passed


def test_the_torch_that_is_imported_is_checked(tmp_path: Path) -> None:
    """Another torch on the path, or one that does not import, is told and not measured."""
    other = Place(release="2.14.1", python=shim(tmp_path, "2.9.1"))
    assert "2.9.1+stub is imported there" in str(commands.run(other, ["python", "-V"], cwd=tmp_path).invalid)
    broken = shim_place(tmp_path, "2.8.0", breaks="raise OSError('libcudart.so: no such file')")
    assert "libcudart" in str(commands.run(broken, ["python", "-V"], cwd=tmp_path).invalid)


def test_a_script_of_another_python_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would run with that one's torch."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "tool").write_text("#!/opt/python/bin/python3\n", encoding="utf-8")
    (folder / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    done = commands.run(shim_place(tmp_path, "2.9.1"), ["tool"], cwd=tmp_path)
    assert "--with" in str(done.invalid)


def test_children_are_gone_when_the_command_is(tmp_path: Path) -> None:
    """What a command leaves running is ended with its group."""
    text = "import subprocess, torch\nprint(subprocess.Popen(['sleep', '300']).pid, flush=True)\n"
    root = project(tmp_path, main=text)
    done = commands.run(shim_place(tmp_path, "2.9.1"), ["python", "main.py"], cwd=root)
    assert done.passed
    child = Path("/proc", done.tail.split()[-1], "status")
    for _ in range(50):
        if not child.exists() or "State:\tZ" in child.read_text(encoding="utf-8"):
            break
        time.sleep(0.1)
    else:
        pytest.fail("the child lives on")
