"""Mistakes and failures that compilefix reports in one line, each with its exit code."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every verb."""

    EXPECTED = 0
    FINDINGS = 1
    USAGE = 2
    HARNESS = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130


class CompilefixError(Exception):
    """Base of all errors that are shown to the user without a traceback."""

    exit_code = Exit.HARNESS


class UsageError(CompilefixError):
    """The caller asked for something that does not exist or contradicts itself."""

    exit_code = Exit.USAGE


class HarnessError(CompilefixError):
    """The harness or the environment failed: torch does not import, the zygote died."""


class RecordError(CompilefixError):
    """A record that cannot be read; the message starts with ``file:line``."""

    exit_code = Exit.HARNESS
