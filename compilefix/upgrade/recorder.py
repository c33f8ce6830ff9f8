"""
A pytest plugin that writes down what every test did, as it happens; it runs in the environment of either release.

It uses nothing but the standard library and pytest. A run that dies in the middle leaves what was written before, with
the test that was running. The file is the one that ``COMPILEFIX_RECORDED`` names, one JSON object a line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "COMPILEFIX_RECORDED"
LONGEST = 8000
"""Characters of a message that are kept."""

DEEPEST = 200
"""Frames of a traceback that are kept, the innermost."""


def _write(**event: Any) -> None:
    if path := os.environ.get(VARIABLE):
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(json.dumps(event) + "\n")


def _root(error: BaseException) -> BaseException:
    """Return the error that was wrapped: what it was raised from, or what torch keeps as its inner exception."""
    for _ in range(20):
        inner = error.__cause__ or getattr(error, "inner_exception", None)
        if not isinstance(inner, BaseException):
            break
        error = inner
    return error


def _frames(error: BaseException) -> list[tuple[str, int, str]]:
    found, entry = [], error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        found.append((code.co_filename, entry.tb_lineno, code.co_name))
        entry = entry.tb_next
    return found[-DEEPEST:]


def _describe(error: BaseException) -> dict[str, Any]:
    root = _root(error)
    frames = [*_frames(error), *([] if root is error else _frames(root))]  # the user's own are in the outer one's
    return {"error": type(root).__qualname__, "message": str(root)[:LONGEST], "frames": frames}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    """Attach the error to its report, which also crosses the border of a worker process."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        report.compilefix = _describe(call.excinfo.value) if call.excinfo else _told(report)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: Any) -> Iterator[None]:
    """Attach the error of a file that could not be collected."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        call = getattr(report, "call", None)
        error = call.excinfo.value if call is not None and call.excinfo else None
        report.compilefix = _describe(error) if error is not None else _told(report)


def _told(report: Any) -> dict[str, Any]:
    """Describe a report that carries no error, by its text, such as that of a worker that died."""
    text = str(report.longrepr or "")
    died = "crashed while running" in text
    if died:
        return {"error": "SIGNAL", "message": "the process died", "frames": []}
    return {"error": "Failed", "message": text[:LONGEST], "frames": []}


def _controls(config: Any) -> bool:
    return not hasattr(config, "workerinput")


class _Writer:
    """The hooks that write; registered only in the process that controls the run."""

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        """Write that a test begins."""
        _write(event="start", id=nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write what one phase of a test did."""
        failure = getattr(report, "compilefix", None) or (_told(report) if report.failed else None)
        _write(event="report", id=report.nodeid, when=report.when, outcome=report.outcome, failure=failure)

    def pytest_collectreport(self, report: Any) -> None:
        """Write a file that could not be collected."""
        if report.failed:
            _write(event="collect", id=report.nodeid, failure=getattr(report, "compilefix", None) or _told(report))

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """Write that the run ended by itself."""
        _write(event="finish", exit=int(exitstatus))


def pytest_configure(config: Any) -> None:
    """Begin."""
    if _controls(config):
        _write(event="session", pytest=pytest.__version__)
        config.pluginmanager.register(_Writer(), "compilefix-writer")
