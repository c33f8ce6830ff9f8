"""Two launchers as one: workers that interpret CUDA's kernels come from a warmed parent of their own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from compilefix.environment import Environment
from compilefix.errors import HarnessError
from compilefix.outcome import INTERPRETED
from compilefix.runner.process import Child, Launcher, SpawnLauncher, ZygoteLauncher
from compilefix.runner.protocol import Request
from compilefix.runner.warm import EXERCISED


class UnavailableError(Exception):
    """A target cannot run here; the message says what is missing."""


class LayeredLauncher:
    """
    Starts workers of every target. What is set for interpreting never reaches the others.

    The parent of interpreting workers starts with the first of them. A request whose parent cannot be had raises
    `UnavailableError`.
    """

    def __init__(
        self,
        plain: type[ZygoteLauncher | SpawnLauncher],
        cache: str,
        gpu: str,
        exercise: Sequence[str] = EXERCISED,
    ) -> None:
        self._cache = cache
        self._gpu = gpu
        self._lock = threading.Lock()
        self._interpreting: ZygoteLauncher | None = None
        self._reason: str | None = None
        self._plain = plain(cache, exercise=exercise)
        usable = f"inductor:{INTERPRETED}" not in self._plain.environment.missing
        self.environment: Environment = replace(self._plain.environment, gpu=gpu if usable else None)
        self.allowance = self._plain.allowance

    def start(self, request: Request, stdout: int, stderr: int, reply: int) -> Child:
        """Start a worker whose streams and reply go to the given descriptors."""
        launcher: Launcher = self._plain
        if request.interpreted and isinstance(self._plain, ZygoteLauncher):
            launcher = self._for_cuda()
        return launcher.start(replace(request, gpu=self._gpu), stdout, stderr, reply)

    def close(self) -> None:
        """Kill all workers and let go of everything."""
        self._plain.close()
        if self._interpreting is not None:
            self._interpreting.close()

    def _for_cuda(self) -> ZygoteLauncher:
        with self._lock:
            if self._interpreting is None and self._reason is None:
                try:
                    self._interpreting = ZygoteLauncher(self._cache, self._gpu)
                    self._reason = self._interpreting.environment.missing.get(f"inductor:{INTERPRETED}")
                except HarnessError as error:
                    self._reason = str(error)
            if self._reason is not None or self._interpreting is None:
                raise UnavailableError(self._reason)
            return self._interpreting
