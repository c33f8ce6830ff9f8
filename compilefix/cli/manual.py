"""What ``--help`` of a verb says beside its options, as a manual page does."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_COLUMNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual:
    """The prose of one verb."""

    description: str
    """Paragraphs, with a blank line between them."""

    examples: tuple[tuple[str, str], ...]
    """Command lines as one types them, and what each does; a test parses all of them."""

    exits: Mapping[int, str]
    """Exit code to what it means here."""

    reads: tuple[str, ...] = ()
    """Files and folders that are read, besides those that the command line names."""

    writes: tuple[str, ...] = ()
    """Files and folders that are written; empty where nothing is, besides what ``-o`` names."""

    settings: tuple[str, ...] = ()
    """Names of `compilefix.config.TYPES` from which options take their defaults."""

    more: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables, and what each does."""

    def above(self) -> str:
        """Return the description, for above the options."""
        return "\n\n".join(filled(" ".join(part.split())) for part in self.description.split("\n\n"))

    def below(self) -> str:
        """Return all that stands below the options."""
        parts = ["examples:\n" + "\n".join(f"  {line}\n      {_what(what)}" for line, what in self.examples)]
        parts.append("exit status:\n" + "\n".join(_item(str(code), text) for code, text in self.exits.items()))
        files = [_item("reads", text) for text in self.reads] + [_item("writes", text) for text in self.writes]
        parts.append("files:\n" + "\n".join(files or ["  writes nothing but the report"]))
        names = ", ".join(f"COMPILEFIX_{name.upper()}" for name in self.settings)
        twins = [filled(f"{names}: defaults of the options and settings of these names", "  ")] if self.settings else []
        if lines := twins + [filled(f"{name}: {text}", "  ") for name, text in self.more.items()]:
            parts.append("environment:\n" + "\n".join(lines))
        return "\n\n".join(parts)


CONFIG = "pyproject.toml: [tool.compilefix] of the nearest one, the current folder's or above"
RECORDS = "repros/*.py: the shipped records, and those of each --repros DIR; read, not executed"
MEASURED = "repros/measured/*.json: what was measured, a file an environment"
CACHE = "~/.cache/compilefix: compiled C++ objects, kept between runs (XDG_CACHE_HOME, --cache-dir)"
JOURNAL = "~/.local/state/compilefix: what --resume goes on with (XDG_STATE_HOME)"
ENVIRONMENTS = "~/.cache/compilefix: one environment a release of torch, 1 to 8 GB each, installed once"
REPORT = "-o FILE: the report, whole or not at all"

USAGE = "usage: an option, a name or a value that cannot be"
HARNESS = "the harness or the environment failed"
INTERRUPTED = "interrupted"


def columns() -> int:
    """Return how wide a line of help may be."""
    return max(40, min(MOST_COLUMNS, shutil.get_terminal_size().columns - 2))


def filled(text: str, indent: str = "", first: str | None = None) -> str:
    """Return `text` in lines of at most `columns`, the first behind `first`; no word is broken."""
    wrapper = textwrap.TextWrapper(columns(), break_long_words=False, break_on_hyphens=False)
    wrapper.initial_indent, wrapper.subsequent_indent = indent if first is None else first, indent
    return wrapper.fill(text)


def _what(text: str) -> str:
    return filled(text, " " * 6, "")


def _item(head: str, text: str) -> str:
    return filled(text, " " * 9, f"  {head:<6} ")
