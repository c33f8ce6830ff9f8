"""
Programs of one grid that wait for each other at a grid-wide barrier, as cooperative reductions do.

Each program is a thread of its own, and one at a time runs: until it comes to the barrier or to its end. When all have,
the next stretch begins. What lies in different stretches is ordered by the barrier.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

PATIENCE = 600.0
"""Seconds for one stretch of one program, so that nothing waits for ever."""

MOST = 512
"""Programs that may wait for each other, a thread each."""

_here = threading.local()


class Program:
    """One program of the grid, in a thread."""

    def __init__(self, body: Callable[[], None]) -> None:
        self._body = body
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.done = False
        self.error: BaseException | None = None

    def _run(self) -> None:
        _here.program = self
        self._go.acquire()
        try:
            if not self.done:
                self._body()
        except BaseException as error:
            self.error = error
        self.done = True
        self._back.release()

    def step(self) -> None:
        """Run until the barrier or the end; raise what the program raises."""
        if not self._thread.is_alive():
            self._thread.start()
        self._go.release()
        self._back.acquire(timeout=PATIENCE)
        if self.error is not None:
            raise self.error

    def arrive(self) -> None:
        """Wait at the barrier until all others have arrived."""
        self._back.release()
        self._go.acquire()
        if self.done:
            raise _GivenUpError

    def give_up(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            self.done = True
            self._go.release()
            self._thread.join(PATIENCE)


class _GivenUpError(BaseException):
    """Another program has raised."""


def barrier(*_: object) -> None:
    """Stand for Inductor's ``x_grid_barrier`` in a kernel."""
    program: Program | None = getattr(_here, "program", None)
    if program is not None:
        program.arrive()


def run(
    bodies: Sequence[Callable[[], None]], order: Sequence[int], before: Callable[[int], None], cut: Callable[[], None]
) -> None:
    """
    Run `bodies` in `order`, stretch by stretch.

    ``before(i)`` is called each time that program `i` goes on, ``cut()`` when all have come to the barrier.
    """
    programs = [Program(body) for body in bodies]
    try:
        while not all(p.done for p in programs):
            for i in order:
                if not programs[i].done:
                    before(i)
                    programs[i].step()
            cut()
    finally:
        for program in programs:
            program.give_up()
