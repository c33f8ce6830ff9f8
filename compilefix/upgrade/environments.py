"""
A Python with a given torch release: installed once and kept, or an interpreter of the user's own.

Environments lie under the user's cache folder, one a release. A folder counts only once its mark is written, so one
that was left half-built is built anew, and a lock lets two processes build the same only once.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
from packaging.version import InvalidVersion, Version

from compilefix import config
from compilefix.errors import CompilefixError, HarnessError, UsageError
from compilefix.upgrade import installer
from compilefix.upgrade.installer import disk_size, in_words

MARK = "compilefix-environment.json"
Announce = Callable[[str], None]


class EnvironmentFailedError(CompilefixError):
    """
    A release that does not work on this machine: ``does not install: …`` or ``does not import: …``.

    It is a fact about the release. What is no such fact, a full disk or an index that does not answer, is a
    `HarnessError`.
    """

    def __init__(self, release: str, reason: str) -> None:
        super().__init__(f"torch {release} {reason}")
        self.release = release
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """A Python that imports one torch release."""

    release: str
    """Public version, such as ``2.9.1``."""

    python: Path
    folder: Path | None
    """Folder of the environment; None for an interpreter of the user's own."""

    size: int = 0
    """Bytes on disk; 0 for an interpreter of the user's own."""

    torch: str
    """Full version, such as ``2.9.1+cu128``."""

    torch_git: str | None = None
    python_version: str = ""


def public(release: str) -> str:
    """Return a release as it is named everywhere, without local part; raise `UsageError` where it is no version."""
    try:
        return Version(release).public
    except InvalidVersion:
        raise UsageError(f"{release!r} is no torch release; write one such as 2.9.1") from None


def root() -> Path:
    """Return the folder of all environments."""
    return Path(platformdirs.user_cache_dir("compilefix")) / "environments"


def adopted(settings: Mapping[str, Any] | None = None) -> dict[str, Path]:
    """
    Return the interpreters that the user named, by release.

    They come from ``COMPILEFIX_ENVIRONMENTS="2.9.1=/path/to/python,…"`` or the list ``environments`` in
    ``[tool.compilefix]``. Raises `UsageError` for an entry of another form.
    """
    found: dict[str, Path] = {}
    for entry in (config.load() if settings is None else settings).get("environments", ()):
        release, equals, path = entry.partition("=")
        if not equals or not path.strip():
            raise UsageError(f"environments: {entry!r} must be RELEASE=PYTHON, such as 2.9.1=/opt/torch291/bin/python")
        found[public(release.strip())] = Path(path.strip()).expanduser()
    return found


def provide(
    release: str,
    *,
    announce: Announce,
    index_url: str | None = None,
    python: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Provided:
    """
    Return a Python that imports torch `release`, installing it where none is at hand.

    An adopted interpreter comes first (see `adopted`), then one that was installed before. `announce` is told in words
    what is ahead (size and time) and how it goes on. `index_url` is passed to the installer, as is `python`, the
    version of Python to install for; None means the installer's own settings and the running Python.

    Raises:
        EnvironmentFailedError: the release does not install or does not import here.
        UsageError: `release` is no version, or the adopted interpreter has another torch.
        HarnessError: the disk is full, no index answers, or the adopted interpreter does not run.

    """
    release = public(release)
    own = adopted(settings).get(release)
    if own is not None:
        return _adopt(release, own)
    if sys.platform == "win32":
        raise HarnessError("environments are built on Linux and macOS; on Windows use WSL, or name one in environments")
    folder = _folder(release, python)
    ready = _read(folder)
    if ready is not None:
        return ready
    with _locked(folder, announce):
        ready = _read(folder)  # another process may have built it while this one waited
        return ready if ready is not None else _build(release, folder, announce, index_url, python)


def installed() -> tuple[Provided, ...]:
    """Return the environments that compilefix installed and that are complete, oldest release first."""
    found = [_read(path) for path in sorted(root().glob("torch-*")) if path.is_dir()]
    return tuple(sorted((p for p in found if p is not None), key=lambda p: Version(p.release)))


def prune(releases: Iterable[str] | None = None, *, announce: Announce = lambda text: None) -> int:
    """
    Remove installed environments, all or those of `releases`, and return the bytes that became free.

    Half-built ones go too. Adopted interpreters are never touched, nor is an environment that is being built.
    """
    wanted = None if releases is None else {public(release) for release in releases}
    freed = 0
    for folder in sorted(path for path in root().glob("torch-*") if path.is_dir()):
        release = folder.name.split("-")[1]
        if wanted is not None and release not in wanted:
            continue
        with _lock(folder) as mine:
            if not mine:
                announce(f"torch {release} is being built by another process: kept")
                continue
            size = disk_size(folder)
            shutil.rmtree(folder)
            freed += size
            announce(f"removed torch {release}: {in_words(size)}")
    return freed


def _folder(release: str, python: str | None) -> Path:
    version = python or platform.python_version()
    return root() / f"torch-{release}-py{''.join(version.split('.')[:2])}"


def _read(folder: Path) -> Provided | None:
    """Return the environment in `folder`; None where it is missing, half-built or lost its Python."""
    try:
        raw = json.loads((folder / MARK).read_text(encoding="utf-8"))
        found = Provided(**raw | {"folder": folder, "python": folder / raw["python"]})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.python.exists() else None


def _adopt(release: str, python: Path) -> Provided:
    if not python.exists():
        raise HarnessError(f"environments names {python} for torch {release}, which does not exist")
    about = _ask(release, python)
    if Version(about["torch"]).public != release:
        raise UsageError(f"environments names {python} for torch {release}, but its torch is {about['torch']}")
    return Provided(release=release, python=python, folder=None, **about)


def _build(release: str, folder: Path, announce: Announce, index_url: str | None, python: str | None) -> Provided:
    begun = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)  # what an interrupted build left behind
    expected = installer.expected_size(index_url)
    free = shutil.disk_usage(folder.parent).free
    announce(
        f"installing torch {release} into {folder}: up to {in_words(expected)} on disk ({in_words(free)} free), "
        "minutes where the wheels have to be downloaded"
    )
    if free < expected:
        raise HarnessError(
            f"no room for torch {release}: {in_words(free)} free, up to {in_words(expected)} needed; "
            "`compilefix measure --prune` removes environments"
        )
    folder.mkdir(parents=True)
    try:
        interpreter = installer.install(release, folder, announce, index_url=index_url, python=python)
        about = _ask(release, interpreter)
        size = disk_size(folder)
        mark = {"release": release, "python": str(interpreter.relative_to(folder)), "size": size, **about}
        temporary = folder / f"{MARK}.tmp"
        temporary.write_text(json.dumps(mark, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        temporary.replace(folder / MARK)
    except installer.NotInstallableError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise EnvironmentFailedError(release, f"does not install: {error}") from None
    except EnvironmentFailedError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    announce(f"torch {about['torch']} is ready: {in_words(size)}, {time.monotonic() - begun:.0f} s")
    return Provided(release=release, python=interpreter, folder=folder, size=size, **about)


_QUESTION = (
    "import json, platform, torch; print(json.dumps({'torch': torch.__version__, "
    "'torch_git': torch.version.git_version, 'python_version': platform.python_version()}))"
)


def _ask(release: str, python: Path) -> dict[str, Any]:
    """Import torch with `python` and return its versions."""
    environ = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        done = subprocess.run(
            [str(python), "-c", _QUESTION],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=environ,
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise HarnessError(f"{python} does not run: {error}") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise EnvironmentFailedError(release, f"does not import: {last[:300]}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


@contextlib.contextmanager
def _locked(folder: Path, announce: Announce) -> Iterator[None]:
    """Hold the lock of `folder`, waiting for another process that holds it."""
    told = False
    while True:
        with _lock(folder) as mine:
            if mine:
                yield
                return
        if not told:
            announce(f"another process is building {folder.name}: waiting for it")
            told = True
        time.sleep(1.0)


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Try to take the lock of `folder`; yields whether that worked. The system releases it when a process dies."""
    import fcntl

    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
