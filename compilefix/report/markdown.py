"""What Markdown reports are made of: escaped text, code, tables, the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compilefix.environment import Environment
from compilefix.report.interface import identity, one_line

_SPECIAL = re.compile(r"[\\`*<\[|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def escape(text: object) -> str:
    """Return `text` on one line, so that it reads literally in Markdown text and in a table cell."""
    return _SPECIAL.sub(r"\\\g<0>", one_line(text)).replace("&", "&amp;")


def code(text: object) -> str:
    """Return `text` as a code span; not for table cells, where a pipe would end it."""
    line = one_line(text)
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fence(text: str, language: str = "text") -> str:
    """Return `text` as a fenced block, whose fence is longer than any run of backticks inside."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def table(header: Iterable[str], rows: Iterable[Iterable[str]], *, bold_first: bool = False) -> str:
    """Return a table whose cells are escaped already."""
    header = tuple(header)
    lines = [header, ("---",) * len(header)]
    for row in rows:
        first, *rest = row
        lines.append((f"**{first}**" if bold_first else first, *rest))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def environment_rows(environment: Environment, seed: int) -> Iterator[tuple[str, str]]:
    """Yield name and value, escaped, of what identifies a machine and its torch."""
    for name, value in identity(environment, seed):
        yield escape(name), escape(value)
