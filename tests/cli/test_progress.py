"""The progress display: what runs, how much is done, and nothing on stdout."""

from __future__ import annotations

import io

from compilefix.progress import Bar, progress
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
