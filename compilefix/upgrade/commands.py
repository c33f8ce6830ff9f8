"""The user's own command, run with the torch of one release: where it runs, what it did, and whether that counts."""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compilefix.errors import UsageError
from compilefix.text import signal_name, visible
from compilefix.upgrade import results
from compilefix.upgrade.signature import HANG, Failure, Frame, of_traceback, place, users_frames

TAIL = 6000
"""Characters of a command's output that are kept."""

SKIP = 125
"""Exit code by which a command says that this release cannot be tested, as in ``git bisect run``."""

_RECORDER = Path(__file__).with_name("recorder.py")
_PLUGIN = "compilefix_recorder"
_UNFIT = ("ModuleNotFoundError", "ImportError", "SyntaxError", "KeyboardInterrupt")
"""Errors by which a whole command dies that say nothing of torch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a command runs: the interpreter of one release."""

    release: str
    python: Path
    first: tuple[Path, ...] = ()
    """Folders of commands that come before the interpreter's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the command did with one release."""

    release: str
    torch: str | None = None
    """Version that was really imported."""

    torch_git: str | None = None
    python: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    seconds: float = 0.0
    passed: tuple[str, ...] = ()
    """Tests that ran and passed, or the command itself."""

    failures: tuple[Failure, ...] = ()
    skipped: int = 0
    invalid: str | None = None
    """Why the whole run says nothing; what it does not list as passed did not pass in any case."""

    tail: str = ""
    """End of what it printed."""

    @property
    def failed(self) -> frozenset[str]:
        """Tests that failed."""
        return frozenset(failure.test for failure in self.failures)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        raw = {name: getattr(self, name) for name in self.__slots__}
        return raw | {"passed": list(self.passed), "failures": [f.to_json() for f in self.failures]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Run:
        """Read what `to_json` wrote."""
        failures = tuple(Failure.from_json(f) for f in raw["failures"])
        return cls(**dict(raw) | {"passed": tuple(raw["passed"]), "failures": failures})


def is_pytest(command: Sequence[str]) -> int | None:
    """Return the position behind ``pytest`` or ``python -m pytest`` at the head of `command`; None for another one."""
    name = Path(command[0]).name
    if name in ("pytest", "py.test"):
        return 1
    return 3 if name.startswith("python") and tuple(command[1:3]) == ("-m", "pytest") else None


def environ(at: Place, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the caller's variables in which ``python`` and installed commands are those of `at`."""
    kept = dict(os.environ if base is None else base)
    for name in ("PYTHONHOME", "__PYVENV_LAUNCHER__", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "VIRTUAL_ENV"):
        kept.pop(name, None)
    folders = [*at.first, at.python.parent]
    root = folders[0].parent
    if (root / "pyvenv.cfg").is_file():
        kept["VIRTUAL_ENV"] = str(root)
    kept["PATH"] = os.pathsep.join([*map(str, folders), kept.get("PATH", os.defpath)])
    return kept


def interpreter(at: Place) -> Path:
    """Return the Python that a command of `at` gets."""
    found = next((folder / "python" for folder in at.first if (folder / "python").exists()), None)
    return found or at.python


@contextlib.contextmanager
def prepared(at: Place, base: Mapping[str, str] | None = None) -> Iterator[tuple[dict[str, str], Path]]:
    """
    Yield the variables of a run in `at`, and a folder for it that is removed afterwards.

    ``python`` is there even where the interpreter has another file name. torch's and Triton's compiled code goes into
    the folder, so no run finds what an earlier one left.
    """
    with tempfile.TemporaryDirectory(prefix="compilefix-run-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        for spelling in ("python", "python3"):
            if not (interpreter(at).parent / spelling).exists():
                wrapper = folder / "bin" / spelling
                wrapper.write_text(f'#!/bin/sh\nexec "{interpreter(at)}" "$@"\n', encoding="utf-8")
                wrapper.chmod(0o755)
        variables = environ(at, base)
        variables["PATH"] = f"{folder / 'bin'}{os.pathsep}{variables['PATH']}"
        variables |= {
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "TRITON_CACHE_DIR": str(folder / "triton"),
        }
        yield variables, folder


def run(at: Place, command: Sequence[str], *, timeout: float | None = None, cwd: Path | None = None) -> Run:
    """
    Run `command` in `cwd` (default: the current folder) with the torch of `at`; `timeout` in seconds.

    A pytest command is recorded test by test. Raises `UsageError` where the command is empty.
    """
    if not command:
        raise UsageError("no command: write it behind --, such as -- pytest tests")
    cwd = (cwd or Path.cwd()).resolve()
    with prepared(at) as (variables, folder):
        facts = torch_of(at, variables, cwd)
        here = Run(release=at.release, **facts)
        if here.torch is None:
            return here
        behind = is_pytest(command)
        argv = list(command)
        recorded = folder / "recorded.jsonl"
        if behind is not None:
            shutil.copy(_RECORDER, folder / f"{_PLUGIN}.py")
            variables["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), variables.get("PYTHONPATH"))))
            variables["COMPILEFIX_RECORDED"] = str(recorded)
            argv = [str(interpreter(at)), "-m", "pytest", "-p", _PLUGIN, *command[behind:]]
        elif (reason := _foreign(command[0], at, variables, folder)) is not None:
            return replace(here, invalid=reason)
        ended = _execute(argv, variables, cwd, timeout, folder)
        done = replace(here, **ended)
        if behind is not None:
            return results.of_pytest(done, recorded, cwd)
        return _of_command(done, " ".join(command), cwd)


_PROBE = (
    "import json, platform, torch; print('\\n' + json.dumps({'torch': torch.__version__, "
    "'torch_git': getattr(getattr(torch, 'version', None), 'git_version', None), "
    "'python': platform.python_version()}))"
)


def torch_of(at: Place, variables: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """Return what ``import torch`` gives a command there, or the reason why it gives nothing as ``invalid``."""
    import json

    argv = [str(interpreter(at)), "-c", _PROBE]
    try:
        done = subprocess.run(
            argv, env=dict(variables), cwd=cwd, capture_output=True, text=True, timeout=300, check=False
        )
        facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        return {"invalid": f"torch {at.release} does not import there: {error}"}
    if not facts:
        last = (visible(done.stderr).strip().splitlines() or ["no message"])[-1]
        return {"invalid": f"torch {at.release} does not import there: {last}"}
    if facts["torch"].partition("+")[0] != at.release.partition("+")[0]:
        return {"invalid": f"torch {facts['torch']} is imported there instead of {at.release}; is it on PYTHONPATH?"}
    return facts


def _foreign(name: str, at: Place, variables: Mapping[str, str], folder: Path) -> str | None:
    """Return why the command `name` would not run with the torch of `at`: absent, or a script of another Python."""
    found = shutil.which(name, path=variables["PATH"])
    if found is None:
        return f"command not found: {name}"
    inside = (folder / "bin", *at.first, at.python.parent)
    if os.sep in name or Path(found).parent in inside:
        return None
    with Path(found).open("rb") as file:
        head = file.readline(200)
    if head.startswith(b"#!") and b"python" in head and b"env python" not in head:
        return f"{name} is not installed in the environment of torch {at.release} ({found} is another's); use --with"
    return None


def _execute(
    argv: Sequence[str], variables: Mapping[str, str], cwd: Path, timeout: float | None, folder: Path
) -> dict[str, Any]:
    """Run `argv` in a process group of its own, which is gone when this returns."""
    log = folder / "output.txt"
    began = time.monotonic()
    timed_out = False
    with log.open("wb") as file:
        process = subprocess.Popen(
            argv,
            env=dict(variables),
            cwd=cwd,
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    code = process.returncode
    number = -code if code < 0 else code - 128 if code in (134, 135, 136, 137, 139, 143) else None
    text = log.read_bytes()[-TAIL * 4 :].decode("utf-8", "replace")
    return {
        "exit_code": None if timed_out else code,
        "signal": None if timed_out or number is None else signal_name(number),
        "timed_out": timed_out,
        "seconds": round(time.monotonic() - began, 2),
        "tail": visible(text)[-TAIL:],
    }


def sources(frames: Sequence[tuple[str, int, str]], cwd: Path) -> str:
    """Return the text of the user's functions that `frames` go through, each once."""
    found: dict[str, None] = {}
    for file, line, _ in users_frames(frames, cwd)[-8:]:
        with contextlib.suppress(OSError, ValueError, SyntaxError):
            text = Path(cwd, file).read_text(encoding="utf-8", errors="replace")
            functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            around = [n for n in functions if n.lineno <= line <= (n.end_lineno or n.lineno)]
            if around:
                first = min(around, key=lambda n: n.lineno)
                found["\n".join(text.splitlines()[first.lineno - 1 : first.end_lineno])] = None
    return "\n".join(found)[-TAIL:]


def _of_command(done: Run, name: str, cwd: Path) -> Run:
    """Read a whole command as one test."""
    if done.exit_code == 0:
        return replace(done, passed=(name,))
    if done.signal in ("SIGINT", "SIGTERM", "SIGKILL", "SIGHUP") or done.exit_code == 130:
        return replace(done, invalid=f"interrupted ({done.signal or 'exit 130'})")
    if done.exit_code in (126, 127):
        last = (done.tail.strip().splitlines() or [""])[-1]
        return replace(done, invalid=f"command not found or not executable (exit {done.exit_code}): {last}")
    if done.exit_code == SKIP:
        return replace(done, invalid=f"the command says that this release cannot be tested (exit {SKIP})")
    told = of_traceback(done.tail)
    frames: list[Frame] = []
    if done.timed_out:
        error, message = HANG, "still running at the time limit"
    elif done.signal:
        error, message = done.signal, ""
    elif told:
        error, message, frames = told
    else:
        last = (done.tail.strip().splitlines() or [""])[-1]
        error, message = f"exit {done.exit_code}", last
    failure = Failure(
        test=name,
        when="command",
        error=error,
        message=message,
        frame=place(frames, cwd),
        source=sources(frames, cwd),
    )
    return replace(done, failures=(failure,), invalid=unfit(failure))


def unfit(failure: Failure) -> str | None:
    """
    Return why a run that ended with `failure` says nothing of torch, or None.

    An import that fails counts as unfit unless it is one of torch's own names: that is what an upgrade breaks.
    """
    error = failure.error.rpartition(".")[2]
    if error not in _UNFIT:
        return None
    if error in ("ModuleNotFoundError", "ImportError") and torchs_own(failure.message):
        return None
    return f"{error}: {failure.message}"[:300]


def torchs_own(message: str) -> bool:
    """Tell whether an import error is about a name of torch's."""
    return "'torch." in message or "from 'torch" in message or "No module named 'torch" in message


__all__ = ["SKIP", "Place", "Run", "environ", "interpreter", "is_pytest", "run", "torch_of", "unfit"]
