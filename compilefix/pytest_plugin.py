"""
The pytest plugin: tests that known defects break, and a fixture that holds compiled code against plain code.

Found by its entry point; ``-p no:compilefix`` turns it off. Collecting imports no torch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compilefix import registry
from compilefix.errors import CompilefixError

if TYPE_CHECKING:
    from compilefix.gate import Decision

MARK = "compile_issue"
ROWS = pytest.StashKey[list[dict[str, Any]]]()
STALE = pytest.StashKey[str]()
SCHEMA = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("compilefix")
    group.addoption(
        "--compilefix-targets",
        metavar="T,T",
        help="targets of the fixture compile_check, such as aot_eager,inductor (default: inductor)",
    )
    group.addoption("--compilefix-report", metavar="FILE", help="write what marks and fixture found there, as JSON")
    parser.addini("compilefix_targets", "targets of the fixture compile_check", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and make room for the report."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(id, stale=True): the test fails where this torch has the known defect: a strict xfail there; where "
        "torch is healthy the test runs, and a pass is a failure because the mark is stale, unless stale=False",
    )
    config.stash[ROWS] = []
    name = config.getoption("--compilefix-report")
    if name and not Path(name).resolve().parent.is_dir():
        raise pytest.UsageError(f"--compilefix-report {name}: there is no such folder")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Turn the mark into a strict xfail where the running torch has the defect."""
    for mark in item.iter_markers(MARK):
        id, may_be_stale = _read(mark)
        decision = _decision(id)
        row = {"test": item.nodeid, "issue": id, "bad": decision.on, "by": decision.by.value, "why": decision.why}
        item.config.stash[ROWS].append(row)
        if decision.on:
            reason = f"{id} is on this torch ({decision.by.value}: {decision.why})"
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
        elif may_be_stale:
            item.stash[STALE] = _stale(id, decision)


def _read(mark: pytest.Mark) -> tuple[str, bool]:
    unknown = set(mark.kwargs) - {"stale"}
    if len(mark.args) != 1 or not isinstance(mark.args[0], str) or unknown:
        raise pytest.UsageError(f'write @pytest.mark.{MARK}("gh198094"), optionally with stale=False; got {mark}')
    return mark.args[0], bool(mark.kwargs.get("stale", True))


@cache
def _records() -> dict[str, registry.Record]:
    """Return all records by id, read once for all tests of a process."""
    return {record.id: record for record in registry.discover().records}


def _decision(id: str) -> Decision:
    from compilefix import gate

    try:
        records = _records()
        if id not in records:
            raise pytest.UsageError(f"@pytest.mark.{MARK}: {id!r} is no known issue; `compilefix list` has them")
        return gate.decide(id, records[id].known)
    except CompilefixError as error:
        raise pytest.UsageError(str(error)) from None
    except ImportError as error:
        pytest.fail(f'{MARK}("{id}") cannot be decided: torch does not import ({error})', pytrace=False)


def _stale(id: str, decision: Decision) -> str:
    return (
        f"stale: torch does not have {id} here ({decision.by.value}: {decision.why}), and the test passes; remove "
        f"the mark, or write stale=False where older releases of torch need it"
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Let a test that passes under a mark that nobody needs fail."""
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    if report.when == "call" and report.passed and STALE in item.stash:
        report.outcome = "failed"
        report.longrepr = item.stash[STALE]


@pytest.fixture
def compile_check(request: pytest.FixtureRequest) -> Callable[..., None]:
    """
    Return ``compile_check(function, *args, targets=…, dynamic=…, **kwargs)``.

    It fails the test where the compiled function does otherwise than the plain one; see `compilefix.testing`.
    """
    chosen = request.config.getoption("--compilefix-targets")
    default = chosen.split(",") if chosen else request.config.getini("compilefix_targets") or ["inductor"]
    rows = request.config.stash[ROWS]

    def check(function: Callable[..., Any], /, *args: Any, targets: Any = None, **kwargs: Any) -> None:
        __tracebackhide__ = True
        from compilefix import testing

        named = {n: kwargs.pop(n) for n in ("dynamic", "strict", "seed") if n in kwargs}
        try:
            results = [testing.parity(function, args, kwargs, target, **named) for target in targets or default]
        except CompilefixError as error:
            raise pytest.UsageError(str(error)) from None
        for result in results:
            found = [difference.to_json() for difference in result.differences]
            rows.append({"test": request.node.nodeid, "target": result.target, "differences": found})
        if bad := [result for result in results if not result.same]:
            pytest.fail(testing.report(bad), pytrace=False)

    return check


class _Workers:
    """With xdist: take over what the workers found."""

    def pytest_testnodedown(self, node: Any) -> None:
        """Read what a worker sends when it ends."""
        node.config.stash[ROWS].extend(getattr(node, "workeroutput", {}).get("compilefix", []))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to xdist's workers where it is there."""
    if session.config.pluginmanager.hasplugin("dsession"):
        session.config.pluginmanager.register(_Workers())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, or send the rows to the process that does."""
    rows = session.config.stash[ROWS]
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["compilefix"] = json.loads(json.dumps(rows, default=str))
        return
    name = session.config.getoption("--compilefix-report")
    if name:
        text = json.dumps({"schema": SCHEMA, "rows": rows}, indent=1, default=str)
        Path(name).write_text(text + "\n", encoding="utf-8")
