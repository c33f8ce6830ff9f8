"""
The warmed parent: imports torch once, then forks one child a request.

It speaks over one socket of packets. In: ``run`` (with three descriptors: stdout, stderr, reply) and ``kill``. Out:
``ready`` with the environment, ``exited``. It runs no tensor computation beyond warming on one thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compilefix.runner.protocol import Request

MAX_PACKET = 1 << 16
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def main(descriptor: int, words: Sequence[str]) -> None:
    """Warm up as `words` say, see `describe`, report, and serve until the other side of the socket goes away."""
    channel = socket.socket(fileno=descriptor)
    channel.sendall(json.dumps({"ready": describe(words)}).encode())
    Zygote(channel).serve()


def describe(words: Sequence[str]) -> dict[str, Any]:
    """
    Warm this process up and return its environment as JSON.

    `words` are the variables that it does not have, behind ``--gpu NAME`` (for which it compiles) or ``--exercise
    BACKENDS`` (with commas between them; all without it).
    """
    from compilefix import environment
    from compilefix.cuda_interpreted import requirement
    from compilefix.outcome import INTERPRETED
    from compilefix.runner import execution, warm, worker  # noqa: F401  (loaded here, not in every child)

    options, scrubbed = {}, tuple(words)
    while scrubbed[:1] in (("--gpu",), ("--exercise",)):
        options[scrubbed[0]], scrubbed = scrubbed[1], scrubbed[2:]
    gpu = options.get("--gpu")
    backends = [b for b in options.get("--exercise", ",".join(warm.EXERCISED)).split(",") if b]
    trouble = warm.prepare()
    if gpu is not None:
        found = {f"inductor:{INTERPRETED}": requirement.trouble() or warm.interpret(gpu)}
    else:
        found = {"inductor:cpu": trouble or warm.exercise(backends), f"inductor:{INTERPRETED}": requirement.trouble()}
    missing = {target: reason for target, reason in found.items() if reason}
    return environment.detect(missing=missing, scrubbed=scrubbed).to_json()


class Zygote:
    """Forks children on request, reports their end, and leaves no process behind."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.children: dict[int, str] = {}
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphaned grandchildren come to us, and are killed
        self.wake, wake_write = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        gc.collect()
        gc.freeze()  # collections in the children do not touch, and so do not copy, the parent's pages

    def serve(self) -> None:
        """Answer packets until the socket closes; then kill all that is left."""
        while True:
            ready, _, _ = select.select([self.channel.fileno(), self.wake], [], [])
            if self.wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.wake, 4096)
                self.reap()
            if self.channel.fileno() in ready:
                raw, descriptors, _, _ = socket.recv_fds(self.channel, MAX_PACKET, 3)
                if not raw:
                    break
                packet = json.loads(raw)
                if "run" in packet:
                    self.fork(packet["run"], Request.from_bytes(json.dumps(packet["request"]).encode()), descriptors)
                else:
                    self.kill(packet["kill"])
        for pid in list(self.children):
            kill_group(pid)
        self.kill_strays()

    def fork(self, name: str, request: Request, descriptors: list[int]) -> None:
        """Fork the child `name`; it serves `request` and exits."""
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self.become_worker(parent, descriptors)
                from compilefix.runner import warm, worker

                warm.single_thread()  # renews the thread pool here, before autograd's threads would race for it
                worker.guarded(request, descriptors[2])
            finally:
                os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        self.children[pid] = name

    def become_worker(self, parent: int, descriptors: list[int]) -> None:
        """Leave the parent's world: own session, own streams, default signals, death with the parent."""
        os.setsid()
        self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(descriptors[0], 1)
        os.dup2(descriptors[1], 2)
        for descriptor in descriptors[:2]:
            os.close(descriptor)
        self.channel.close()

    def reap(self) -> None:
        """Collect every process that ended, kill what the ended children left behind, report."""
        ended = []
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self.children:
                kill_group(pid)
                ended.append((self.children.pop(pid), status, usage))
        if ended:
            self.kill_strays()
        for name, status, usage in ended:
            cpu = round(usage.ru_utime + usage.ru_stime, 4)
            self.send({"exited": name, "status": status, "cpu": cpu, "rss": usage.ru_maxrss})

    def kill_strays(self) -> None:
        """Kill grandchildren that outlived their parent: they are our children now, but none we forked."""
        listing = Path(f"/proc/self/task/{os.getpid()}/children")
        pids = [int(word) for word in listing.read_text().split()] if listing.exists() else []
        for pid in pids:
            if pid not in self.children:
                kill_group(pid)

    def kill(self, name: str) -> None:
        """Kill the child `name` and its group, if it still runs."""
        for pid, child in self.children.items():
            if child == name:
                kill_group(pid)

    def send(self, packet: dict[str, Any]) -> None:
        """Tell the scheduler; it may be gone already."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.sendall(json.dumps(packet).encode())


def kill_group(pid: int) -> None:
    """Kill the process group led by `pid`, and `pid` itself where it leads none yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    if sys.argv[1] == "--describe":
        print(json.dumps(describe(sys.argv[2:])))
    else:
        main(int(sys.argv[1]), sys.argv[2:])
