"""Which torch releases a project supports, read from its pyproject.toml, setup.cfg or setup.py."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from compilefix.errors import UsageError
from compilefix.scan.releases import RELEASES

_POETRY = re.compile(r"^[\^~]")


@dataclass(frozen=True, slots=True)
class Supported:
    """The range that a requirement allows."""

    minimum: Version | None = None
    maximum: Version | None = None
    """Last release that is allowed; None: the requirement has no upper bound."""

    source: Path | None = None


def supported(start: Path) -> Supported:
    """
    Return what the nearest project file at or above `start` requires of torch.

    Requirements of extras count where the project itself has none. Raises `UsageError` for a file that is damaged.
    """
    start = start.resolve()
    for folder in (start, *start.parents) if start.is_dir() else start.parents:
        for name, reader in (("pyproject.toml", _pyproject), ("setup.cfg", _setup_cfg), ("setup.py", _setup_py)):
            path = folder / name
            if path.is_file() and (found := _range(reader(path))) is not None:
                return Supported(*found, path)
        if (folder / ".git").exists():
            break
    return Supported()


def _pyproject(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if "torch" not in text:
        return
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        raw: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    project = raw.get("project", {})
    yield from project.get("dependencies", ())
    poetry = raw.get("tool", {}).get("poetry", {}).get("dependencies", {}).get("torch")
    poetry = poetry.get("version") if isinstance(poetry, dict) else poetry
    if isinstance(poetry, str):
        yield f"torch{_POETRY.sub('>=', poetry)}" if poetry[:1] in "^~<>=!" else f"torch=={poetry}"
    for extra in project.get("optional-dependencies", {}).values():
        yield from extra


def _setup_cfg(path: Path) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        raise UsageError(f"{path}: not a valid setup.cfg") from None
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            yield from value.splitlines()


def _setup_py(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lstrip().startswith("torch"):
            yield node.value


def _range(requirements: Iterator[str]) -> tuple[Version | None, Version | None] | None:
    """Return minimum and maximum of the first requirement of torch that bounds anything."""
    for text in requirements:
        try:
            wanted = Requirement(text.strip())
        except InvalidRequirement:
            continue
        if wanted.name.lower() != "torch" or (wanted.marker is not None and "extra" not in str(wanted.marker)):
            continue
        allowed = [v for v in map(Version, RELEASES) if wanted.specifier.contains(v)]
        lower = [
            Version(s.version.rstrip(".*")) for s in wanted.specifier if s.operator in (">=", "==", "~=", ">", "===")
        ]
        bounded = any(s.operator in ("<", "<=", "==", "~=", "===") for s in wanted.specifier)
        if lower or bounded:
            return (max(lower) if lower else None), (allowed[-1] if bounded and allowed else None)
    return None


def parse(option: str, text: str) -> Version:
    """Return the release that a user wrote; raise `UsageError`."""
    try:
        return Version(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no version such as 2.9.1") from None


def measured(environments: Sequence[str]) -> Version:
    """Return the newest release of measured environments such as ``torch-2.13.0+cpu-py311-linux-x86_64``."""
    found = [Version(m[1]) for name in environments if (m := re.match(r"torch-([0-9.]+)", name))]
    return max(found, default=Version(RELEASES[-1]))
