"""The place where a command runs: the environment of a release, with the user's own packages laid over it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compilefix.errors import UsageError
from compilefix.text import first_line
from compilefix.upgrade.commands import Place
from compilefix.upgrade.environments import (
    Announce,
    EnvironmentFailedError,
    Provided,
    _locked,
    provide,
    root,
)
from compilefix.upgrade.installer import disk_size, in_words

_DONE = "compilefix-overlay"


def place(
    release: str,
    packages: Sequence[str] = (),
    requirements: Sequence[Path] = (),
    *,
    announce: Announce,
    index_url: str | None = None,
) -> Place:
    """
    Return where a command runs with torch `release`; `packages` and `requirements` are installed for it.

    They go into an environment of their own that sees the one of the release, which stays as it is, and torch is held
    at its version. What is not a path is installed once and kept; a path is installed anew each time. A release that
    is not at hand comes from `index_url`.

    Raises what `environments.provide` raises, `EnvironmentFailedError` also where a package does not install, and
    `UsageError` for a file that does not exist.
    """
    for file in requirements:
        if not file.is_file():
            raise UsageError(f"--requirements: no such file: {file}")
    provided = provide(release, announce=announce, index_url=index_url)
    at = Place(release=provided.release, python=provided.python)
    if not packages and not requirements:
        return at
    names = [p for p in packages if not _is_path(p)]
    paths = [str(Path(p).resolve()) for p in packages if _is_path(p)]
    text = "\0".join([str(provided.python), provided.torch, *names, *(f.read_text("utf-8") for f in requirements)])
    folder = root() / f"torch-{provided.release}-with-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    with _locked(folder, announce):
        if not (folder / _DONE).exists():
            _build(provided, folder, [*names, *(part for f in requirements for part in ("-r", str(f)))], announce)
        if paths:
            _install(provided, folder, [*paths])
            _install(provided, folder, ["--force-reinstall", "--no-deps", *paths])
    return Place(release=provided.release, python=provided.python, first=(folder / "bin",))


def _is_path(package: str) -> bool:
    return (os.sep in package or package.startswith(".")) and "://" not in package and Path(package).exists()


def _build(provided: Provided, folder: Path, arguments: Sequence[str], announce: Announce) -> None:
    announce(f"laying {' '.join(arguments) or 'an environment'} over torch {provided.release} in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    _must(provided, [str(provided.python), "-m", "venv", str(folder)])
    base, own = (_site(provided, python) for python in (provided.python, folder / "bin" / "python"))
    Path(own, "compilefix-base.pth").write_text(f"import site; site.addsitedir({base!r})\n", encoding="utf-8")
    if arguments:
        _install(provided, folder, arguments)
    (folder / _DONE).touch()
    announce(f"{in_words(disk_size(folder))} on disk")


def _install(provided: Provided, folder: Path, arguments: Sequence[str]) -> None:
    constraints = folder / "constraints.txt"
    constraints.write_text(f"torch=={provided.torch}\n", encoding="utf-8")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", "-c", str(constraints)]
    _must(provided, [*pip, *arguments])


def _site(provided: Provided, python: Path) -> str:
    return _must(provided, [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()


def _must(provided: Provided, command: Sequence[str]) -> str:
    kept = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=kept, timeout=1800, check=False)
    except subprocess.TimeoutExpired:
        raise EnvironmentFailedError(provided.release, "does not install with your packages: 30 minutes over") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr]
        reason = f"does not install with your packages: {first_line(errors[-1], 300)}"
        raise EnvironmentFailedError(provided.release, reason)
    return done.stdout
