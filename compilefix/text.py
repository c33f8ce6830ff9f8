"""Text from programs, made fit to show."""

from __future__ import annotations

import re
import signal

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")


def signal_name(number: int) -> str:
    """Return ``SIGSEGV`` for 11; real-time signals, most of which have no name, become ``signal 40``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def strip_ansi(text: str) -> str:
    """Return `text` without terminal sequences: colours, cursor movements, hyperlinks."""
    return _ANSI.sub("", text)


def visible(text: str) -> str:
    """Return `text` without terminal sequences and with other control characters written out in hexadecimal."""
    text = strip_ansi(text)
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def first_line(text: str, limit: int = 200) -> str:
    """Return the line of an error message that says most, shortened to `limit` characters."""
    lines = [line.strip() for line in visible(text).splitlines() if line.strip()]
    if not lines:
        return ""
    compiler = next((line for line in lines if re.search(r"\berror: ", line)), None)
    while len(lines) > 1 and lines[0].endswith(":"):
        lines[:2] = [f"{lines[0]} {lines[1]}"]
    line = f"{lines[0]} {compiler.partition('error: ')[2]}" if compiler and compiler != lines[0] else lines[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"


def normalise(message: str) -> str:
    """Strip what differs from run to run: addresses, paths, line numbers, generated names."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", message)
    message = re.sub(r"0x[0-9a-fA-F]+", "0x…", message)
    message = re.sub(r"(/[\w.+-]+)+/([\w.+-]+)", r"\2", message)
    message = re.sub(r"\bline \d+", "line N", message)
    message = re.sub(r"\bc[a-z0-9]{50,}\b", "<hash>", message)
    return message.strip()
