"""Run the user's own program, watch its graphs, and keep the first one that misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from compilefix.diagnosis.exchange import AHEAD, CAPTURED, FOLDER, PENDING, SEEN
from compilefix.diagnosis.result import Conclusion
from compilefix.diagnosis.subject import Subject, write
from compilefix.errors import HarnessError, UsageError
from compilefix.text import signal_name, visible

GRACE = 5.0


def captured(
    command: Sequence[str],
    folder: Path,
    seconds: float,
    *,
    compile: Mapping[str, object] | None = None,
    config: Mapping[str, object] | None = None,
) -> Subject:
    """
    Run `command` and return the first of its graphs that misbehaves.

    The program is stopped once a graph is caught, and after `seconds`. What it prints goes to stderr. Results, written
    inputs and gradients of each graph are checked, with random numbers drawn as plain code does; what goes wrong in
    Dynamo itself is not seen here. A program that dies is run once more with each graph kept before it runs. Settings
    that the program has changed are taken over; `config` comes on top. Where nothing is caught the subject carries a
    verdict. Raises `UsageError` for a command that cannot be started, `HarnessError` where the graph cannot be saved.
    """
    where = folder / "capture"
    where.mkdir()
    hooks = str(Path(__file__).parent / "hooks")
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join([hooks, package, *filter(None, [os.environ.get("PYTHONPATH")])])
    environ = os.environ | {"PYTHONPATH": path, FOLDER: str(where)}
    end, found = time.monotonic() + seconds, where / CAPTURED
    code = _watched(command, environ, found, end)
    died = code is not None and code < 0
    if died and not found.exists():
        code = _watched(command, environ | {AHEAD: "1"}, found, end)
        pending = sorted(where.glob(f"*-{PENDING}"))
        if pending and not found.exists():
            pending[0].rename(found)
    name = " ".join(command)
    if found.exists():
        return _subject(name, folder, where, dict(compile or {}), dict(config or {}))
    looked = _looked_at(where)
    if code is None:
        verdict = Conclusion.UNRESOLVED, f"nothing misbehaved within {seconds:g} s ({looked})"
    elif code:
        ended = f"was ended by {signal_name(-code)}" if code < 0 else f"ended with {code}"
        verdict = Conclusion.FAILS_PLAINLY, f"the command {ended}, and no graph misbehaved"
    else:
        verdict = Conclusion.HEALTHY, f"{looked}; what Dynamo itself does is not checked this way"
    return Subject(name=name, path=where, folder=folder, verdict=verdict)


def _watched(command: Sequence[str], environ: Mapping[str, str], found: Path, end: float) -> int | None:
    """Run `command` until it ends, `found` is there, or it is `end`; return its exit code, None where it was cut."""
    if command[0] in ("python", "python3"):
        command = [sys.executable, *command[1:]]
    try:
        process = subprocess.Popen(command, env=environ, stdout=sys.stderr, start_new_session=True)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from None
    try:
        while process.poll() is None and time.monotonic() < end and not found.exists():
            time.sleep(0.05)
        return process.poll()
    finally:
        _stop(process)


def _subject(name: str, folder: Path, where: Path, compile: dict[str, object], config: dict[str, object]) -> Subject:
    told = json.loads((where / CAPTURED).read_text(encoding="utf-8"))
    if "failed" in told:
        raise HarnessError(f"a graph misbehaves ({told['why']}) but cannot be saved: {visible(told['failed'])}")
    spec = {"kind": "captured", "file": str(where / told["graph"]), "places": told["places"], "why": told["why"]}
    fields = {"compile": compile, "config": told["config"] | config}
    return write(f"{name}: first graph that misbehaves", folder / "subject", spec, fields)


def _looked_at(where: Path) -> str:
    notes = [json.loads(path.read_text(encoding="utf-8")) for path in where.glob(f"*-{SEEN}")]
    graphs, calls = sum(n["graphs"] for n in notes), sum(n["calls"] for n in notes)
    told = (
        f"{calls} calls of {graphs} compiled graphs agree with plain code" if calls else "no compiled graph was checked"
    )
    unchecked = Counter(reason for note in notes for reason in note["unchecked"])
    return told + "".join(f"; {n} not checked: {reason}" for reason, n in unchecked.items())


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(GRACE)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return
