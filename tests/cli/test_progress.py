"""The progress display: what runs, how much is done, and nothing on stdout."""

from __future__ import annotations

import io

import pytest

from compilefix.diagnosis.result import Step
from compilefix.outcome import Did
from compilefix.progress import Bar, Notebook, probes, progress
from tests.runner.test_schedule import environment


def test_the_bar_counts_every_run_and_never_beyond_its_total() -> None:
    """Workarounds that turn out to be needed are added to the total; what runs now is named."""
    bar = Bar(io.StringIO(), lambda: None)
    bar.started(environment(), 2)
    (task,) = bar.display.tasks
    for what in ("gh1 reference:cpu", "gh1 inductor:cpu", "gh1 inductor:cpu workaround"):
        bar.ran("run", what)
        assert task.description == what
        bar.ran("done", what)
        assert task.total is not None
        assert task.completed <= task.total
    assert (task.completed, task.total) == (3, 3)


def test_a_stream_that_is_no_terminal_gets_plain_lines() -> None:
    """Logs get lines without control sequences, and the start is passed on."""
    stream, started = io.StringIO(), []
    with progress(stream, lambda: started.append(True)) as watcher:
        watcher.warming()
        watcher.started(environment(), 5)
    assert stream.getvalue().splitlines()[-1] == "compilefix: torch 2.13.0+cpu, 5 runs"
    assert "\x1b" not in stream.getvalue()
    assert started == [True]


class Written:
    """Stands where a notebook's line is, and keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int | None, int | None]] = []

    def show(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Keep it."""
        self.told.append((text, done, total))


def test_the_bar_of_a_notebook_counts_likewise() -> None:
    """From the start to its total, workarounds included."""
    line = Written()
    bar = Notebook(line, lambda: None)  # type: ignore[arg-type]
    bar.warming()
    bar.started(environment(), 2)
    for what in ("gh1 reference:cpu", "gh1 inductor:cpu", "gh1 inductor:cpu workaround"):
        bar.ran("run", what)
        assert line.told[-1][0] == what
        bar.ran("done", what)
        assert (line.told[-1][1] or 0) <= (line.told[-1][2] or 0)
    assert line.told[0][1:] == (None, None)
    assert line.told[-1] == ("", 3, 3)


def test_outside_of_a_notebook_probes_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A script that calls diagnose prints only what it prints itself."""
    with probes() as watch:
        watch(Step(phase="baseline", what="inductor:cpu: as it is", did=Did.OK))
    assert capsys.readouterr() == ("", "")
