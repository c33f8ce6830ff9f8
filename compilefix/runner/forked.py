"""A warmed parent that is forked from the calling process, so that its children have what only that process has."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

from compilefix.runner.process import Process, ZygoteLauncher


class ForkedLauncher(ZygoteLauncher):
    """
    Forks the zygote from this process instead of starting a Python.

    Its children share the caller's memory until they write. Of the caller's threads only the calling one is there; a
    pool that torch has started is not, so all of them compute on one thread.
    """

    def _begin(self, theirs: socket.socket, arguments: list[str], environ: dict[str, str]) -> Process:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pid = os.fork()
        if pid:
            return _Forked(pid)
        try:
            self._become_zygote(theirs, arguments, environ)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(1)

    def _become_zygote(self, theirs: socket.socket, arguments: list[str], environ: dict[str, str]) -> None:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(self._log.fileno(), 1)
        os.dup2(self._log.fileno(), 2)
        sys.stdout = os.fdopen(os.dup(1), "w")
        sys.stderr = os.fdopen(os.dup(2), "w")
        self._channel.close()
        os.environ.clear()
        os.environ.update(environ)
        threading.excepthook = lambda _: None
        import torch._dynamo.config

        torch._dynamo.config.disable = False  # the caller's environment may have turned it off
        torch._dynamo.reset()
        from compilefix.runner import zygote

        descriptor = os.dup(theirs.fileno())
        theirs.detach()
        zygote.main(descriptor, arguments)


class _Forked:
    """A child of this process, as `subprocess.Popen` would show it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""
        if self._code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                self._code = 0  # somebody else has waited for it
                return self._code
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("zygote", timeout or 0.0)
            time.sleep(0.01)
        return code
