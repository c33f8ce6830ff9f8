"""What a notebook shows: results as pages, and a line that says what is going on while one waits."""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any

PAGES = "compilefix.report.notebook"
"""Room that draws results. It imports them, so that they can only name it; see `Shown`."""


class Shown:
    """
    A result that a notebook shows as its page, and an interactive shell, or a viewer without scripts, as its table.

    Both are drawn by a room above the result's own, found by name when a notebook asks for it, and only then.
    """

    def __init_subclass__(cls) -> None:
        cls._repr_pretty_ = Shown._told  # type: ignore[attr-defined]  # of the class itself, or __repr__ goes before it

    def _repr_html_(self) -> str:
        page: str = importlib.import_module(PAGES).framed(self)
        return page

    def _told(self, printer: Any, cycle: bool) -> None:
        printer.text(importlib.import_module(PAGES).table(self))


def running() -> bool:
    """Tell whether this process is the kernel of a notebook, as opposed to a script or a terminal."""
    shell = sys.modules.get("IPython")
    current = shell.get_ipython() if shell is not None else None
    return type(current).__name__ == "ZMQInteractiveShell"


class Line:
    """
    One line of a notebook's output that changes, with a bar; gone when it is closed. Needs no widgets.

    Raises `ImportError` where there is no IPython; ask `running` first.
    """

    def __init__(self) -> None:
        from IPython.display import display

        self._handle: Any = display(self._html("", None, None), display_id=True)

    def show(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Show `text` behind a bar: `done` of `total`, or a moving one where that is not known."""
        self._handle.update(self._html(text, done, total))

    def close(self) -> None:
        """Take the line away."""
        from IPython.display import HTML

        self._handle.update(HTML(""))

    def _html(self, text: str, done: int | None, total: int | None) -> Any:
        from IPython.display import HTML

        amount = f' value="{done}" max="{total}"' if done is not None and total else ""
        counted = f"{done}/{total} " if amount else ""
        return HTML(f'<progress{amount} aria-label="compilefix"></progress> {counted}{html.escape(text)}')
