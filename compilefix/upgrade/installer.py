"""Install one torch release into a fresh folder: uv where it is present, else venv and pip."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from compilefix.errors import HarnessError
from compilefix.text import first_line

BESIDES = ("numpy", "packaging>=24", "platformdirs>=4", "rich>=13", 'tomli>=2; python_version < "3.11"')
"""What compilefix itself needs in the environment; it comes along as source, on the path."""

BEAT = 15.0
"""Seconds between two signs of life."""

_NO_FACT = re.compile(
    r"No space left|Disk quota|ConnectionError|Connection (?:refused|reset|aborted)|NewConnectionError|Max retries|"
    r"[Tt]imed? ?out|Temporary failure|name resolution|dns error|failed to fetch|error sending request|"
    r"ProxyError|SSLError|Permission denied|from versions: none|torch was not found",
    re.IGNORECASE,
)
"""
Failures that say something of this machine or its network, and nothing of the release.

An index without any torch for this Python is one that did not answer, or the wrong one.
"""

_SHOWN = re.compile(r"\s*(?:Downloading|Using cached|Installing|Prepared|Installed|Resolved|Building)\b.*")


def disk_size(folder: Path) -> int:
    """Return how many bytes the files below `folder` take, links not followed."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total


def in_words(size: int) -> str:
    """Return a number of bytes in GB or MB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


_ERROR = re.compile(r"\s*(?:ERROR: |error: |cause: |× |╰─▶ )\s*")
"""How pip and uv begin a line that says what went wrong; uv's last one has the cause."""


class NotInstallableError(Exception):
    """The index has no such release for this Python and machine, or it cannot be installed."""


def expected_size(index_url: str | None) -> int:
    """Return the bytes that an environment takes at most: CUDA wheels where Linux's default index is asked."""
    return 8_500_000_000 if sys.platform == "linux" and index_url is None else 2_500_000_000


def install(
    release: str,
    folder: Path,
    announce: Callable[[str], None],
    *,
    index_url: str | None = None,
    python: str | None = None,
) -> Path:
    """
    Make an environment in `folder`, install torch `release` into it and return its Python.

    A build for CPUs is asked for first, and whatever the index has under that version where there is none. Raises
    `NotInstallableError`, or `HarnessError` where the machine or its network is to blame.
    """
    uv = shutil.which("uv")
    interpreter = folder / "bin" / "python"
    if uv:
        _must([uv, "venv", "--quiet", "--python", python or sys.executable, str(folder)], announce, folder)
        command = [uv, "pip", "install", "--python", str(interpreter)]
    else:
        _must([_python(python), "-m", "venv", str(folder)], announce, folder)
        command = [str(interpreter), "-m", "pip", "install", "--progress-bar", "off", "--no-input"]
    if index_url is not None:
        command += ["--index-url", index_url]
    if _run([*command, f"torch=={release}+cpu", *BESIDES], announce, folder) is None:
        return interpreter
    _must([*command, f"torch=={release}", *BESIDES], announce, folder)
    return interpreter


def _python(version: str | None) -> str:
    if version is None:
        return sys.executable
    found = shutil.which(f"python{version}")
    if found is None:
        raise NotInstallableError(f"no python{version} on the path, and no uv to fetch it")
    return found


def _must(command: Sequence[str], announce: Callable[[str], None], folder: Path) -> None:
    failure = _run(command, announce, folder)
    if failure is not None:
        raise NotInstallableError(failure)


def _run(command: Sequence[str], announce: Callable[[str], None], folder: Path) -> str | None:
    """Run an installer and tell how it goes on; return why it failed, None where it did not."""
    tail: deque[str] = deque(maxlen=60)
    environ = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, env=environ
    )
    reader = threading.Thread(target=_read, args=(process, tail, announce), daemon=True)
    reader.start()
    begun = beat = time.monotonic()
    try:
        while reader.is_alive():
            reader.join(0.5)
            if time.monotonic() - beat >= BEAT:
                beat = time.monotonic()
                announce(f"  still at it: {beat - begun:.0f} s, {in_words(disk_size(folder))} in place")
        code = process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if code == 0:
        return None
    text = "\n".join(tail)
    why = _reason(text) or f"{Path(command[0]).name} ended with exit code {code}"
    if _NO_FACT.search(text):
        raise HarnessError(f"the installation into {folder} failed, through no fault of the release: {why}")
    return why


def _read(process: subprocess.Popen[str], tail: deque[str], announce: Callable[[str], None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        tail.append(line.rstrip())
        if _SHOWN.match(line) and len(line) < 200:
            announce(f"  {line.strip()}")


def _reason(text: str) -> str:
    """Return the line of an installer's output that says why it failed."""
    errors = [line for line in text.splitlines() if _ERROR.match(line)]
    last = _ERROR.sub("", errors[-1]) if errors else text
    return first_line(re.sub(r"\s*\(from versions: .*?\)", "", last), 300)
