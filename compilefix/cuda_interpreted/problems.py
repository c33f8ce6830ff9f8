"""What can go wrong here besides the program itself."""

from __future__ import annotations


class InterpreterLimitError(Exception):
    """Something that runs on a GPU but not under the interpreter: the target is unsupported, not wrong."""

    def __init__(self, construct: str, kernel: str | None = None) -> None:
        where = f" in {kernel}" if kernel else ""
        super().__init__(f"beyond the interpreter{where}: {construct}")


class DeviceAssertError(RuntimeError, IndexError):
    """
    An assertion inside a kernel failed.

    On a GPU this is CUDA's ``device-side assert triggered``; Inductor emits such assertions for indices, where the
    plain program on a CPU raises `IndexError`.
    """
