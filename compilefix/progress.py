"""What is shown while one waits, on stderr or in a notebook: what runs now, what is done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from compilefix import notebook
from compilefix.environment import Environment
from compilefix.outcome import Result

if TYPE_CHECKING:
    from compilefix.diagnosis.result import Step


class Silent:
    """Shows nothing; calls `on_started` when the first run is about to begin."""

    def __init__(self, on_started: Callable[[], None] = lambda: None) -> None:
        self._on_started = on_started

    def warming(self) -> None:
        """Show nothing."""

    def started(self, environment: Environment, runs: int) -> None:
        """Show nothing."""
        self._on_started()

    def ran(self, event: str, what: str) -> None:
        """Show nothing."""

    def result(self, result: Result) -> None:
        """Show nothing."""


class Plain(Silent):
    """A line now and then, for logs."""

    def __init__(self, stream: TextIO, on_started: Callable[[], None], *, each: bool = True) -> None:
        super().__init__(on_started)
        self._stream = stream
        self._each = each

    def warming(self) -> None:
        """Say that torch is being loaded."""
        print("compilefix: loading torch's compiler (longer on a machine's first run)", file=self._stream, flush=True)

    def started(self, environment: Environment, runs: int) -> None:
        """Say what is ahead."""
        super().started(environment, runs)
        print(f"compilefix: torch {environment.torch}, {runs} runs", file=self._stream, flush=True)

    def result(self, result: Result) -> None:
        """Say what one record came to, where each is of interest."""
        if self._each:
            print(f"compilefix: {result.id} {result.verdict.value}", file=self._stream, flush=True)


class Bar(Silent):
    """A bar with what runs at this moment."""

    def __init__(self, stream: TextIO, on_started: Callable[[], None]) -> None:
        super().__init__(on_started)
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
        self._runs = 0

    def started(self, environment: Environment, runs: int) -> None:
        """Start counting."""
        super().started(environment, runs)
        self._runs = runs
        self.display.update(self._task, total=runs, description=f"torch {environment.torch}")

    def ran(self, event: str, what: str) -> None:
        """Show what runs; workarounds are runs that nobody could count beforehand."""
        if event == "run":
            self._running[what] = None
            if what.endswith(" workaround"):
                self._runs += 1
                self.display.update(self._task, total=self._runs)
        else:
            self._running.pop(what, None)
            self.display.advance(self._task)
        self.display.update(self._task, description=", ".join(self._running))


class Notebook(Silent):
    """A bar in the output of a notebook's cell."""

    def __init__(self, line: notebook.Line, on_started: Callable[[], None]) -> None:
        super().__init__(on_started)
        self._line = line
        self._running: dict[str, None] = {}
        self._runs = self._done = 0

    def warming(self) -> None:
        """Say that torch is being loaded."""
        self._line.show("loading torch's compiler (longer on a machine's first run)")

    def started(self, environment: Environment, runs: int) -> None:
        """Start counting."""
        super().started(environment, runs)
        self._runs = runs
        self._line.show(f"torch {environment.torch}", 0, runs)

    def ran(self, event: str, what: str) -> None:
        """Show what runs; workarounds are runs that nobody could count beforehand."""
        if event == "run":
            self._running[what] = None
            self._runs += what.endswith(" workaround")
        else:
            self._running.pop(what, None)
            self._done += 1
        self._line.show(", ".join(self._running), self._done, self._runs)


@contextlib.contextmanager
def probes() -> Iterator[Callable[[Step], None]]:
    """Yield what is told of each probe of a diagnosis; it shows them in a notebook, and nothing elsewhere."""
    if not notebook.running():
        yield lambda _: None
        return
    line, number = notebook.Line(), 0

    def show(step: Step) -> None:
        nonlocal number
        number += 1
        line.show(f"probe {number}, {step.phase}: {step.what}: {step.did.value}")

    line.show("loading torch's compiler")
    try:
        yield show
    finally:
        line.close()


@contextlib.contextmanager
def progress(stream: TextIO, on_started: Callable[[], None], *, each: bool = True) -> Iterator[Silent]:
    """
    Show progress on `stream`, a bar on a terminal or in a notebook, plain lines elsewhere.

    `on_started` is called when the first run begins.

    Without `each` the plain lines leave out what every record came to.
    """
    if notebook.running():
        line = notebook.Line()
        try:
            yield Notebook(line, on_started)
        finally:
            line.close()
        return
    if not stream.isatty():
        yield Plain(stream, on_started, each=each)
        return
    bar = Bar(stream, on_started)
    with bar.display:
        yield bar
