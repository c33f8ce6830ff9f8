"""Counts the semantics cases that the tests of ops went through."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many cases of how many ops were held against torch's own op; under xdist as well."""
    found: dict[str, int] = {}
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            op, _, word = name.partition(" ")
            if word == "cases":
                found[op] = found.get(op, 0) + value
    if found:
        terminalreporter.write_line(f"ops x semantics cases: {sum(found.values())} over {len(found)} ops")
