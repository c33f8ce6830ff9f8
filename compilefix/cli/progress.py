"""The progress line on stderr: what runs now, what is done."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TextIO

from compilefix.environment import Environment
from compilefix.outcome import Result


class Silent:
    """Shows nothing."""

    def warming(self) -> None:
        """Show nothing."""

    def started(self, environment: Environment, runs: int) -> None:
        """Show nothing."""

    def ran(self, event: str, what: str) -> None:
        """Show nothing."""

    def result(self, result: Result) -> None:
        """Show nothing."""


class Plain(Silent):
    """A line now and then, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def warming(self) -> None:
        """Say that torch is being loaded."""
        print("compilefix: loading torch's compiler (longer on a machine's first run)", file=self._stream, flush=True)

    def started(self, environment: Environment, runs: int) -> None:
        """Say what is ahead."""
        print(f"compilefix: torch {environment.torch}, {runs} runs", file=self._stream, flush=True)

    def result(self, result: Result) -> None:
        """Say what one record came to."""
        print(f"compilefix: {result.id} {result.verdict.value}", file=self._stream, flush=True)


class Bar(Silent):
    """A bar with what runs at this moment."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.display = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=Console(file=stream),
            transient=True,
        )
        self._task = self.display.add_task("loading torch's compiler (longer on a machine's first run)", total=None)
        self._running: dict[str, None] = {}

    def started(self, environment: Environment, runs: int) -> None:
        """Start counting."""
        self.display.update(self._task, total=runs, description=f"torch {environment.torch}")

    def ran(self, event: str, what: str) -> None:
        """Show what runs."""
        if event == "run":
            self._running[what] = None
        else:
            self._running.pop(what, None)
            self.display.advance(self._task)
        self.display.update(self._task, description=", ".join(self._running))


@contextlib.contextmanager
def progress(stream: TextIO) -> Iterator[Silent]:
    """Show progress on `stream`: a bar on a terminal, plain lines elsewhere."""
    if not stream.isatty():
        yield Plain(stream)
        return
    bar = Bar(stream)
    with bar.display:
        yield bar
