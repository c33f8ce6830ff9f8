"""Interpreters that report a torch of any version: enough to test how runs are compared, nothing of torch itself."""

from __future__ import annotations

import sys
from pathlib import Path

from compilefix.upgrade.commands import Place


def shim(folder: Path, release: str, *, breaks: str = "") -> Path:
    """Write a Python whose ``import torch`` gives a module with that version, or runs `breaks`; return its path."""
    package = folder / f"torch-{release}" / "stub" / "torch"
    package.mkdir(parents=True)
    text = f'__version__ = "{release}+stub"\n\n\nclass version:\n    git_version = "{release}"\n\n\n{breaks}\n'
    (package / "__init__.py").write_text(text, encoding="utf-8")
    python = folder / f"torch-{release}" / "bin" / "python"
    python.parent.mkdir()
    path = f'"{package.parent}${{PYTHONPATH:+:$PYTHONPATH}}"'
    python.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return python


def shim_place(folder: Path, release: str, **how: str) -> Place:
    """Return where a command runs with such a Python."""
    return Place(release=release, python=shim(folder, release, **how))


def setting(folder: Path, *releases: str) -> dict[str, str]:
    """Return the variable by which compilefix takes such interpreters for the releases."""
    return {"COMPILEFIX_ENVIRONMENTS": ",".join(f"{r}={shim(folder, r)}" for r in releases)}
