"""Arguments that several verbs share, and their defaults from the environment and pyproject.toml."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compilefix import config
from compilefix.errors import UsageError
from compilefix.registry import Record, Registry, discover


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add ids, ``--select``, ``--ignore`` and ``--repros``."""
    group = parser.add_argument_group("selection")
    group.add_argument("ids", nargs="*", metavar="ID", help="records such as gh198094; all when none is named")
    group.add_argument(
        "--select",
        action="append",
        metavar="TERM",
        help="keep what matches a TERM: ID, stage:…, symptom:…, op:…, device:…, record:… (repeatable; default: all)",
    )
    group.add_argument(
        "--ignore", action="append", metavar="TERM", help="drop what matches TERM (repeatable; default: none)"
    )
    add_repros(group)


def add_repros(parser: argparse._ActionsContainer) -> None:
    """Add ``--repros``."""
    parser.add_argument(
        "--repros",
        action="append",
        metavar="DIR",
        help="a folder with repros of your own besides the shipped ones (repeatable)",
    )


def add_isolation(group: argparse._ActionsContainer) -> None:
    """Add ``--isolation`` and ``--cache-dir``."""
    group.add_argument(
        "--isolation",
        choices=config.ISOLATION,
        help="fork from a warmed parent, or spawn a fresh Python a run (default: fork where there is one)",
    )
    add_cache(group)


def add_cache(group: argparse._ActionsContainer) -> None:
    """Add ``--cache-dir``."""
    group.add_argument(
        "--cache-dir", metavar="DIR", help="where compiled C++ objects are kept (default: ~/.cache/compilefix)"
    )


def add_index(group: argparse._ActionsContainer) -> None:
    """Add ``--index-url``, where releases of torch come from."""
    group.add_argument(
        "--index-url",
        metavar="URL",
        help="package index to install torch from, such as one of CPU wheels (default: pip's own)",
    )


def add_output(parser: argparse.ArgumentParser, formats: Sequence[str], default: str) -> None:
    """Add ``--format``, ``-o`` and ``--color``."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=formats, help=f"report format (default: {default})")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="write the report to FILE, whole or not at all (default: stdout)"
    )
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colours of the report (default: auto)"
    )


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the environment and of pyproject.toml, under those of the command line."""
    given = {name: value for name, value in vars(args).items() if value is not None}
    return config.load() | given


def registry(chosen: dict[str, Any]) -> Registry:
    """Read the shipped records and those of the user's folders."""
    return discover(Path(folder) for folder in chosen.get("repros", ()))


def cores() -> int:
    """Return how many cores this process may use; 2 where that cannot be told."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def selected(found: Registry, chosen: dict[str, Any]) -> tuple[Record, ...]:
    """Return the records that the arguments select."""
    return found.select(chosen.get("ids", ()), chosen.get("select", ()), chosen.get("ignore", ()))


def colored(choice: str, output: str | None) -> bool:
    """Decide whether the report is coloured: ``--color``, then NO_COLOR, then whether a terminal reads it."""
    if choice != "auto":
        return choice == "always"
    return output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def width(output: str | None) -> int | None:
    """Return the width of the terminal that reads the report, None where none does."""
    if output is not None or not (sys.stdout.isatty() or "COLUMNS" in os.environ):
        return None
    return shutil.get_terminal_size().columns


def emit(text: str, output: str | None) -> None:
    """Print `text`, or write it to the file `output`, which is complete or untouched afterwards."""
    if output is None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
        return
    path = Path(output)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None


def check_writable(output: str | None) -> None:
    """Raise `UsageError` now if `output` cannot be written later: a long check must not lose its report."""
    if output is not None and not os.access(Path(output).parent, os.W_OK):
        raise UsageError(f"cannot write {output}: its folder does not exist or is read-only")
    if output is not None and Path(output).is_dir():
        raise UsageError(f"cannot write {output}: it is a folder")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def size(text: str) -> int | None:
    """Read a size such as ``4GiB``, ``512M`` or ``none``; return bytes."""
    if text.lower() == "none":
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise UsageError(f"{text!r} is not a size; write 4GiB, 512MiB or none")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def shard(text: str) -> tuple[int, int]:
    """Read ``i/n`` with 1 <= i <= n."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard {text!r} is not I/N with 1 <= I <= N, such as 2/5")
    return int(match[1]), int(match[2])
