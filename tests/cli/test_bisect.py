"""`bisect`, end to end: a command over several interpreters, a record from measurements, a function on a real torch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import pytest
from packaging.version import Version

from compilefix.cli import main
from compilefix.upgrade import matrix, subjects
from compilefix.upgrade.bisection import BisectReport, Found
from tests.conftest import Cli, command, environ
from tests.upgrade.shims import setting
from tests.upgrade.test_difference import measurement

RELEASES = tuple(f"2.{minor}.0" for minor in range(90, 97))
ENDS = ("--good", RELEASES[0], "--bad", RELEASES[-1], "--releases", ",".join(RELEASES))
PROGRAM = """
import os, sys, time, torch
minor = int(torch.__version__.split(".")[1])
if minor == 93: sys.exit(125)
if minor == 92: raise RuntimeError("another failure")
if minor >= 94: os.abort()
"""


@pytest.fixture
def there(tmp_path: Path) -> dict[str, str]:
    """Write a program that behaves otherwise on each release, and return where the releases are."""
    folder = tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(PROGRAM, encoding="utf-8")
    return setting(tmp_path, *RELEASES)


def report_of(text: str) -> BisectReport:
    """Read a report."""
    return BisectReport.from_json(json.loads(text))


def test_a_command_is_bisected(cli: Cli, there: dict[str, str]) -> None:
    """Any failure is bad, 125 skips."""
    done = cli("bisect", *ENDS, "--format", "json", "--", "python", "main.py", **there)
    assert done.returncode == 0, done.stderr
    report = report_of(done.stdout)
    assert (report.last_good, report.first_bad) == ("2.91.0", "2.92.0")
    assert report.step("2.90.0").environment["torch"] == "2.90.0+stub"  # type: ignore[union-attr]


def test_tests_are_bisected_with_their_errors_as_evidence(cli: Cli, there: dict[str, str], tmp_path: Path) -> None:
    """And not with what they log."""
    text = "import torch\ndef test_a():\n    print('noise' * 1000)\n    assert torch.__version__ < '2.91', 'too new'\n"
    (tmp_path / "elsewhere" / "test_it.py").write_text(text, encoding="utf-8")
    ends = ("--good", "2.90.0", "--bad", "2.91.0", "--releases", "2.90.0")
    report = report_of(cli("bisect", *ends, "--format", "json", "--", "pytest", "-q", **there).stdout)
    assert report.window == ("2.90.0", "2.91.0")
    assert report.steps[1].evidence.startswith("test_it.py::test_a: AssertionError: too new")
    assert "noise" not in report.steps[1].evidence


def test_only_one_class_of_failure_counts(cli: Cli, there: dict[str, str]) -> None:
    """Another one skips the release, and the report names what lies between."""
    done = cli("bisect", *ENDS, "--regress", "crash", "--format", "json", "--", "python", "main.py", **there)
    report = report_of(done.stdout)
    assert report.window == ("2.91.0", "2.94.0")
    assert {s.release for s in report.skipped()} == {"2.92.0", "2.93.0"}
    again = cli(
        "bisect", "--resume", *ENDS, "--regress", "crash", "--format", "markdown", "--", "python", "main.py", **there
    )
    assert "last good 2.91.0, first bad 2.94.0; skipped between them: 2.92.0, 2.93.0" in again.stdout
    assert "0 of them run" in again.stdout
    assert "SIGABRT" in again.stdout


def test_a_release_that_is_not_to_be_had_is_skipped(cli: Cli, there: dict[str, str], tmp_path: Path) -> None:
    """It does not import here; the rest goes on."""
    stub = tmp_path / "torch-2.91.0" / "stub" / "torch" / "__init__.py"
    stub.write_text("raise ImportError('libtorch.so is missing')", encoding="utf-8")
    done = cli("bisect", *ENDS, "--format", "json", "--", "python", "main.py", **there)
    report = report_of(done.stdout)
    assert report.window == ("2.90.0", "2.92.0")
    assert [(s.release, "libtorch" in s.why) for s in report.skipped()] == [("2.91.0", True)]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--good", "2.90.0", "--bad", "2.91.0"), 4, "both ends are good"),
        (("--good", "2.94.0", "--bad", "2.95.0"), 4, "both ends are bad"),
        (("--good", "2.93.0", "--bad", "2.95.0"), 4, "cannot be judged"),
        (("--bad", "2.90.0", "--good", "2.95.0", "--find-fix"), 4, "without --find-fix"),
        (("--good", "2.95.0", "--bad", "2.90.0"), 2, "add --find-fix"),
        (("--good", "2.90.0", "--bad", "2.91.0", "gh198094"), 2, "one thing"),
        (("--good", "2.90.0", "--bad", "2.91.0", "--releases", "2.99.0"), 2, "not between"),
        (("--good", "old", "--bad", "2.91.0"), 2, "no torch release"),
    ],
)
def test_what_cannot_be_bisected(
    cli: Cli, there: dict[str, str], arguments: tuple[str, ...], code: int, told: str
) -> None:
    """The ends are looked at first; mistakes are one line."""
    limit = () if "--releases" in arguments or code == 2 else ("--releases", arguments[1])
    done = cli("bisect", *arguments, *limit, "--", "python", "main.py", **there)
    assert done.returncode == code, done.stderr
    assert told in " ".join((done.stdout + done.stderr).split())


def test_an_interrupted_bisection_says_how_to_go_on(there: dict[str, str], tmp_path: Path) -> None:
    """What was found is on disk, and --resume runs the rest only."""
    folder = tmp_path / "elsewhere"
    (folder / "main.py").write_text(PROGRAM + "\nif minor == 91: time.sleep(120)\n", encoding="utf-8")
    arguments = ("--good", "2.90.0", "--bad", "2.95.0", "--releases", "2.91.0")
    run = {"cwd": folder, "env": environ(tmp_path / "state", **there), "text": True}
    argv = command("bisect", *arguments, "--", "python", "main.py")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **run) as process:  # type: ignore[call-overload]
        assert process.stderr is not None
        for line in process.stderr:
            if "torch 2.91.0:" in line:
                break
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "compilefix bisect --resume --good 2.90.0" in err
    assert "2.90.0" in out
    (folder / "main.py").write_text(PROGRAM, encoding="utf-8")
    argv = command("bisect", "--resume", *arguments, "--format", "json", "--", "python", "main.py")
    done = subprocess.run(argv, capture_output=True, timeout=120, check=False, **run)  # type: ignore[call-overload]
    report = report_of(done.stdout)
    assert report.window == ("2.91.0", "2.95.0")
    assert {s.release: s.by for s in report.steps} == {
        "2.90.0": "run earlier",
        "2.95.0": "run earlier",
        "2.91.0": "run",
    }


def test_a_record_is_answered_from_measurements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Nothing is run where all is known; another symptom than the recorded one skips a release."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    states = {"2.90.0": "mismatch", "2.91.0": "mismatch", "2.92.0": "error", "2.93.0": "ok", "2.94.0": "ok"}
    seen = tuple(measurement(release, gh183763={"inductor:cpu": word}) for release, word in states.items())
    monkeypatch.setattr(matrix, "read", lambda: matrix.Matrix(measurements=seen))
    ends = ("--bad", "2.90.0", "--good", "2.94.0", "--find-fix", "--releases", ",".join(states))
    assert main(["bisect", *ends, "gh183763", "--format", "json"]) == 0
    report = report_of(capsys.readouterr().out)
    assert (report.first_bad, report.last_good) == ("2.91.0", "2.93.0")
    assert [step.release for step in report.skipped()] == ["2.92.0"]
    assert {step.by for step in report.steps} == {"measured before"}
    assert "def program" in report.program


SUBJECT = """
import torch

def inputs():
    return torch.ones(3)

def right(x):
    return x + 1

def wrong(x):
    return x + 2 if torch.compiler.is_compiling() else x + 1
"""


@pytest.mark.slow
@pytest.mark.parametrize(("function", "found"), [("right", Found.GOOD), ("wrong", Found.BAD)])
def test_a_function_of_the_users_is_judged_on_a_real_torch(
    function: str, found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against its own plain result."""
    here = Version(metadata.version("torch")).public
    monkeypatch.setenv("COMPILEFIX_ENVIRONMENTS", f"{here}={sys.executable}")
    (tmp_path / "net.py").write_text(SUBJECT, encoding="utf-8")
    record = subjects.of_function(f"{tmp_path / 'net.py'}:{function}", None, tmp_path)
    step = subjects.check(
        record,
        here,
        lambda text: None,
        wanted=subjects.wanted_of(None, None),
        target="eager:cpu",
        repros=[str(tmp_path)],
    )
    assert step.found is found, step
    assert step.environment["torch"].startswith(here)
    assert ("want 2" in step.evidence) == (found is Found.BAD)


@pytest.mark.parametrize(
    ("subject", "told"),
    [("gone.py:f", "no such file"), ("main.py:gone", "defines no gone"), ("main.py:", "not FILE:FUNC")],
)
def test_a_function_that_is_not_there_is_a_usage_error(
    cli: Cli, there: dict[str, str], subject: str, told: str
) -> None:
    """In one line."""
    done = cli("bisect", *ENDS, subject, **there)
    assert done.returncode == 2
    assert told in done.stderr
