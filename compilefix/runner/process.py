"""Start workers, watch them, and turn every way in which they can end into an outcome."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from compilefix import environment
from compilefix.environment import Environment
from compilefix.errors import HarnessError
from compilefix.outcome import Did, Outcome
from compilefix.runner.protocol import Request, decode_reply
from compilefix.runner.warm import EXERCISED
from compilefix.text import signal_name, visible

TAIL = 4096
"""Bytes of a worker's output that are kept."""

KILL_PATIENCE = 10.0
"""Seconds within which a killed worker must be gone."""

WARMING_PATIENCE = 900.0
"""Seconds within which the zygote must be ready; a machine's first run compiles C++ headers."""

SPAWN_ALLOWANCE = 60.0
"""Seconds that a fresh process may take to import torch's compiler before its time limit starts to count."""


@dataclass(frozen=True)
class Ended:
    """How a worker process ended."""

    status: int
    """As `os.waitpid` reports it."""

    cpu: float | None = None
    """User and system time in seconds, of the worker and the children it waited for."""


class Child(Protocol):
    """One running worker."""

    def wait(self, seconds: float) -> Ended | None:
        """Wait up to `seconds`; None when it still runs."""

    def kill(self) -> None:
        """Kill it and its whole process group."""


class Launcher(Protocol):
    """Starts workers for one torch."""

    environment: Environment
    allowance: float

    def start(self, request: Request, stdout: int, stderr: int, reply: int) -> Child:
        """Start a worker whose streams and reply go to the given descriptors."""

    def close(self) -> None:
        """Kill all workers and let go of everything."""


class Process(Protocol):
    """A process that we started: the part of `subprocess.Popen` that is used."""

    pid: int

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raise `subprocess.TimeoutExpired` where it does not come in time."""

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""


class ZygoteLauncher:
    """Forks workers from one warmed parent process."""

    allowance = 0.0

    def __init__(self, cache: str, gpu: str | None = None, exercise: Sequence[str] = EXERCISED) -> None:
        environ, scrubbed = environment.scrubbed_environ(cache)
        arguments = ["--exercise", ",".join(exercise)] if gpu is None else ["--gpu", gpu]
        if gpu is not None:
            environ = environment.interpreting(environ, cache)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the zygote)
        self._channel = ours
        self._process = self._begin(theirs, [*arguments, *scrubbed], importable(environ))
        theirs.close()
        self._lock = threading.Lock()
        self._children: dict[str, _Forked] = {}
        self._next = 0
        try:
            ours.settimeout(WARMING_PATIENCE)
            raw = ours.recv(1 << 20)
            ours.settimeout(None)
        except TimeoutError:
            self.close()
            raise HarnessError(f"torch's compiler was not ready after {WARMING_PATIENCE:g} s") from None
        except BaseException:
            self.close()
            raise
        if not raw:
            self.close()
            raise HarnessError(f"torch cannot be used: {self._last_words()}")
        self.environment = Environment.from_json(json.loads(raw)["ready"])
        threading.Thread(target=self._listen, daemon=True).start()

    def _begin(self, theirs: socket.socket, arguments: list[str], environ: dict[str, str]) -> Process:
        """Start the zygote on its end of the socket."""
        return subprocess.Popen(
            [sys.executable, "-m", "compilefix.runner.zygote", str(theirs.fileno()), *arguments],
            env=environ,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    def start(self, request: Request, stdout: int, stderr: int, reply: int) -> Child:
        """Ask the zygote for a child."""
        with self._lock:
            self._next += 1
            name = str(self._next)
            child = self._children[name] = _Forked(self, name)
        packet = {"run": name, "request": json.loads(request.to_bytes())}
        try:
            socket.send_fds(self._channel, [json.dumps(packet).encode()], [stdout, stderr, reply])
        except OSError:
            raise HarnessError(f"the zygote died: {self._last_words()}") from None
        return child

    def ask_to_kill(self, name: str) -> None:
        """Have the zygote kill one child's process group."""
        with contextlib.suppress(OSError):
            self._channel.sendall(json.dumps({"kill": name}).encode())

    def close(self) -> None:
        """Close the channel, upon which the zygote kills its children and goes."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _listen(self) -> None:
        while raw := self._receive():
            packet = json.loads(raw)
            if "exited" in packet:
                with self._lock:
                    child = self._children.pop(packet["exited"])
                child.ended.put(Ended(packet["status"], packet["cpu"]))
        with self._lock:
            for child in self._children.values():
                child.ended.put(None)

    def _receive(self) -> bytes:
        try:
            return self._channel.recv(1 << 16)
        except OSError:
            return b""

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the process ended with {self._process.poll()} and said nothing"


class _Forked:
    def __init__(self, launcher: ZygoteLauncher, name: str) -> None:
        self._launcher = launcher
        self._name = name
        self.ended: queue.Queue[Ended | None] = queue.Queue()

    def wait(self, seconds: float) -> Ended | None:
        try:
            ended = self.ended.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
        if ended is None:
            raise HarnessError("the zygote died")
        return ended

    def kill(self) -> None:
        self._launcher.ask_to_kill(self._name)


class SpawnLauncher:
    """Starts one fresh Python process a worker: where fork is missing, and to check the zygote against."""

    allowance = SPAWN_ALLOWANCE

    def __init__(self, cache: str, exercise: Sequence[str] = EXERCISED) -> None:
        self._environ, scrubbed = environment.scrubbed_environ(cache)
        self._environ = importable(self._environ)
        self._cache = cache
        self._running: set[_Spawned] = set()
        probe = subprocess.run(
            [
                sys.executable,
                "-m",
                "compilefix.runner.zygote",
                "--describe",
                "--exercise",
                ",".join(exercise),
                *scrubbed,
            ],
            env=self._environ,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if probe.returncode:
            raise HarnessError(f"torch cannot be used: {(probe.stderr.strip().splitlines() or ['no message'])[-1]}")
        self.environment = Environment.from_json(json.loads(probe.stdout.splitlines()[-1]))

    def start(self, request: Request, stdout: int, stderr: int, reply: int) -> Child:
        """Start a process for one request."""
        interpreted = request.interpreted
        process = subprocess.Popen(
            [sys.executable, "-m", "compilefix.runner.worker", str(reply)],
            env=environment.interpreting(self._environ, self._cache) if interpreted else self._environ,
            pass_fds=[reply],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(request.to_bytes())
            process.stdin.close()
        child = _Spawned(process)
        self._running.add(child)
        return child

    def close(self) -> None:
        """Kill all that still runs."""
        for child in self._running:
            if child.runs():  # the number of one that ended may be another process's by now
                child.kill()


class _Spawned:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def wait(self, seconds: float) -> Ended | None:
        try:
            code = self._process.wait(max(seconds, 0.001))
        except subprocess.TimeoutExpired:
            return None
        self.kill()  # grandchildren of the group
        return Ended(-code if code < 0 else code << 8)

    def runs(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def importable(environ: dict[str, str]) -> dict[str, str]:
    """Return `environ` with this package on the path, wherever it was imported from."""
    path = [str(Path(__file__).parents[2]), *filter(None, [environ.get("PYTHONPATH")])]
    return environ | {"PYTHONPATH": os.pathsep.join(path)}


class _Reader(threading.Thread):
    """Drains one pipe and keeps its tail, or all of it."""

    def __init__(self, descriptor: int, keep: int | None) -> None:
        super().__init__(daemon=True)
        self._descriptor = descriptor
        self._keep = keep
        self.data = b""
        self.start()

    def run(self) -> None:
        try:
            while chunk := os.read(self._descriptor, 1 << 16):
                self.data += chunk
                if self._keep is not None and len(self.data) > self._keep:
                    self.data = self.data[-self._keep :]
        finally:
            os.close(self._descriptor)


def execute(launcher: Launcher, request: Request, timeout: float, cancelled: threading.Event) -> Outcome:
    """
    Run one worker to its end.

    A time limit becomes `hang`, a signal `crash`, an end without a reply `unresolved`. Raises `HarnessError` when the
    launcher itself is gone.
    """
    pipes = [os.pipe() for _ in range(3)]
    try:
        child = launcher.start(request, *(write for _, write in pipes))
    except BaseException:
        for read, _ in pipes:
            os.close(read)
        raise
    finally:
        for _, write in pipes:
            os.close(write)
    stdout, stderr, reply = _Reader(pipes[0][0], TAIL), _Reader(pipes[1][0], TAIL), _Reader(pipes[2][0], None)
    deadline = time.monotonic() + timeout + launcher.allowance
    ended, killed = None, False
    while ended is None:
        left = deadline - time.monotonic()
        ended = child.wait(min(0.2, left))
        if ended is None and killed and left <= 0:
            raise HarnessError("a worker could not be killed")
        if ended is None and not killed and (left <= 0 or cancelled.is_set()):
            child.kill()
            killed, deadline = True, time.monotonic() + KILL_PATIENCE
    for reader in (stdout, stderr, reply):
        reader.join(2)
    outcome = _interpret(ended, reply.data, hung=killed, cancelled=cancelled.is_set(), timeout=timeout)
    return replace(
        outcome,
        cpu_seconds=ended.cpu,
        stdout=visible(stdout.data.decode(errors="replace")),
        stderr=outcome.stderr or visible(stderr.data.decode(errors="replace")),
    )


def _interpret(ended: Ended, reply: bytes, *, hung: bool, cancelled: bool, timeout: float) -> Outcome:
    if hung and cancelled:
        return Outcome(did=Did.UNRESOLVED, reason="not run: interrupted")
    if hung:
        return Outcome(did=Did.HANG, reason=f"no end within {timeout:g} s", seconds=timeout)
    if os.WIFSIGNALED(ended.status):
        name = signal_name(os.WTERMSIG(ended.status))
        if name == "SIGKILL":
            return Outcome(did=Did.UNRESOLVED, reason="killed from outside (SIGKILL; the system may be out of memory)")
        return Outcome(did=Did.CRASH, reason=f"died of {name}", error=(name, ""))
    try:
        return decode_reply(reply)
    except ValueError:
        code = os.waitstatus_to_exitcode(ended.status)
        return Outcome(did=Did.UNRESOLVED, reason=f"the program ended the process early (exit code {code}, no reply)")
