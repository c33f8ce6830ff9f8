"""What can go wrong here besides the program itself."""

from __future__ import annotations

import re

CPU_ONLY_ERRORS = {
    "ZeroDivisionError": "an integer division by zero raises on a CPU only; on CUDA the plain program returns a value",
}
"""What the plain program raises on a CPU and not on a GPU, and why nothing can be compared then."""

_LIMIT = re.compile(r"(beyond|too large for) the interpreter[^\n]*")
_NO_CPU_KERNEL = re.compile(r"Could not run '(?P<op>[\w:.]+)' with arguments from the 'CPU' backend")

_NO_RESIZE = "Trying to resize storage that is not resizable"
_NO_RESIZE_SAID = "beyond the interpreter: its CPU memory cannot be resized, as CUDA's can"


class InterpreterLimitError(Exception):
    """Something that runs on a GPU but not under the interpreter: the target is unsupported, not wrong."""

    def __init__(self, construct: str, kernel: str | None = None) -> None:
        where = f" in {kernel}" if kernel else ""
        super().__init__(f"beyond the interpreter{where}: {construct}")


class TooLargeError(InterpreterLimitError):
    """A launch that would take longer than the run may."""

    def __init__(self, kernel: str, programs: int, accesses: int, seconds: float) -> None:
        self.args = (
            f"too large for the interpreter: {kernel}, {programs} programs of {accesses} loads and stores each, "
            f"would take about {seconds:.0f} s",
        )


class DeviceAssertError(RuntimeError, IndexError):
    """
    An assertion inside a kernel failed.

    On a GPU this is CUDA's ``device-side assert triggered``; Inductor emits such assertions for indices, where the
    plain program on a CPU raises `IndexError`.
    """


class IllegalAccessError(RuntimeError):
    """A kernel was given a tensor without memory: on a GPU, CUDA's ``an illegal memory access was encountered``."""


def cpu_only(message: str) -> str | None:
    """Return why the error `message` of the plain program on a CPU says nothing about CUDA, or None."""
    return next((why for words, why in CPU_ONLY_ERRORS.items() if words in message), None)


def too_large(message: str) -> bool:
    """Tell whether the error `message` says that a launch would not have ended in time."""
    return "too large for the interpreter" in message


def limit_of(message: str) -> str | None:
    """Return what of the error `message` says that a limit of the interpreter was met, or None."""
    if found := _LIMIT.search(message):
        return found[0]
    if found := _NO_CPU_KERNEL.search(message):
        return f"beyond the interpreter: {found['op']} has no kernel on a CPU"
    return _NO_RESIZE_SAID if _NO_RESIZE in message else None
