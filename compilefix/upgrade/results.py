"""What a pytest run did, test by test, read from what `recorder` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilefix.upgrade.signature import HANG, Failure, place

if TYPE_CHECKING:
    from compilefix.upgrade.commands import Run

_EXITS = {
    2: "interrupted",
    3: "internal error of pytest",
    4: "pytest was called wrongly or could not load a conftest",
    5: "no tests were collected",
}


def of_pytest(done: Run, recorded: Path, cwd: Path) -> Run:
    """
    Return `done` with the tests that ran.

    Passed is only what was recorded as passed. A run that dies of a signal or of the time limit is a failure of the
    test that was running; what would have come after it is in neither list.
    """
    from compilefix.upgrade import commands

    events = _events(recorded)
    if not events:
        last = (done.tail.strip().splitlines() or ["no output"])[-1]
        return replace(done, invalid=f"pytest did not start: {last}")
    reports: dict[str, list[Mapping[str, Any]]] = {}
    running: dict[str, None] = {}
    for event in events:
        if event["event"] == "start":
            running[event["id"]] = None
        elif event["event"] == "report":
            reports.setdefault(event["id"], []).append(event)
            if event["when"] == "teardown":
                running.pop(event["id"], None)
    failures = [_failure(e["id"], "collect", e["failure"], cwd) for e in events if e["event"] == "collect"]
    passed, skipped = [], 0
    for id, phases in reports.items():
        failed = [p for p in phases if p["outcome"] == "failed"]
        failures += [_failure(id, p["when"], p["failure"], cwd) for p in failed]
        running = {} if any(p["failure"]["error"] == "SIGNAL" for p in failed) else running
        if any(p["outcome"] == "skipped" for p in phases):
            skipped += 1
        elif not failed and any(p["when"] == "call" for p in phases) and id not in running:
            passed.append(id)
    finished = next((e["exit"] for e in events if e["event"] == "finish"), None)
    died = finished is None and (done.timed_out or done.signal not in (None, "SIGINT", "SIGTERM", "SIGHUP"))
    if died and running:
        error = HANG if done.timed_out else str(done.signal)
        message = "still running at the time limit" if done.timed_out else "the process died"
        failures += [Failure(test=id, when="call", error=error, message=message, frame=_function(id)) for id in running]
    ended = replace(done, passed=tuple(passed), failures=tuple(failures), skipped=skipped)
    if died:
        why = None if running else f"the run ended with {done.signal or 'the time limit'} outside of a test"
        return replace(ended, invalid=why)
    if finished is None:
        return replace(ended, invalid=f"interrupted ({done.signal or f'exit {done.exit_code}'})")
    if finished in _EXITS:
        first = next((f for f in failures if f.when == "collect"), None)
        told = f"{_EXITS[finished]}: {first.test}: {first.signature}" if first else _EXITS[finished]
        why = None if first and commands.unfit(first) is None else told
        return replace(ended, invalid=why)
    return ended


def _function(test: str) -> str:
    """Return the place of a test that left no traceback, ``file:function``."""
    file, _, name = test.partition("::")
    return f"{file}:{name.partition('[')[0].rpartition('::')[2]}"


def _events(recorded: Path) -> list[dict[str, Any]]:
    if not recorded.exists():
        return []
    found = []
    for line in recorded.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # the line that was being written when the process died
    return found


def _failure(test: str, when: str, raw: Mapping[str, Any], cwd: Path) -> Failure:
    from compilefix.upgrade import commands

    frames = [(str(file), int(line), str(function)) for file, line, function in raw["frames"]]
    error, message = str(raw["error"]), str(raw["message"])
    if when == "collect" and not frames:
        error, message = _of_text(error, message)
    return Failure(
        test=test,
        when=when,
        error=error,
        message=message,
        frame=place(frames, cwd) or (_function(test) if error == "SIGNAL" else ""),
        source=commands.sources(frames, cwd),
    )


def _of_text(error: str, text: str) -> tuple[str, str]:
    """Return error class and message out of the text that pytest shows, whose last ``E`` line has them."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    name, colon, message = (lines or [""])[-1].partition(": ")
    return (name, message) if colon and name.isidentifier() else (error, text)
