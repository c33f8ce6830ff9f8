"""Defaults a user can set: ``COMPILEFIX_*`` variables first, then ``[tool.compilefix]`` of pyproject.toml."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from compilefix.errors import UsageError

ISOLATION = ("fork", "spawn")
"""How workers start: forked from a warmed parent, or each as a fresh Python process."""

TYPES: dict[str, tuple[type, ...]] = {
    "repros": (list,),
    "timeout": (int, float),
    "jobs": (int,),
    "seed": (int,),
    "memory": (str,),
    "fail_on": (str,),
    "format": (str,),
    "isolation": (str,),
    "cache_dir": (str,),
    "environments": (list,),
    "gpu": (str,),
    "grid": (str,),
    "select": (list,),
    "ignore": (list,),
    "min_torch": (str,),
    "max_torch": (str,),
    "scan_select": (list,),
    "scan_ignore": (list,),
}
"""Settings and the TOML types they take."""

PATHS = ("repros", "environments")
"""Lists with paths, which pyproject.toml gives relative to itself."""


def load(start: Path | None = None) -> dict[str, Any]:
    """
    Return the settings that are set, by name.

    Lists in variables are separated by the path separator. Raises `UsageError` for an unknown or ill-typed setting.
    """
    return _from_pyproject(start or Path.cwd()) | _from_environ()


def _from_environ() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, types in TYPES.items():
        text = os.environ.get(f"COMPILEFIX_{name.upper()}")
        if not text:
            continue
        if list in types:
            separator = os.pathsep if name == "repros" else ","
            found[name] = [part for part in text.split(separator) if part]
        elif str in types:
            found[name] = text
        else:
            convert = float if float in types else int
            try:
                found[name] = convert(text)
            except ValueError:
                raise UsageError(f"COMPILEFIX_{name.upper()}={text!r} is not a number") from None
    return found


def _below(folder: Path, name: str, item: object) -> str:
    """Return an entry whose path is relative to `folder`, that of pyproject.toml: ``DIR`` or ``RELEASE=PYTHON``."""
    before, equals, path = str(item).rpartition("=") if name == "environments" else ("", "", str(item))
    return f"{before}{equals}{folder / Path(path).expanduser()}" if equals or name == "repros" else str(item)


def _from_pyproject(start: Path) -> dict[str, Any]:
    path = next((p / "pyproject.toml" for p in (start, *start.parents) if (p / "pyproject.toml").is_file()), None)
    if path is None:
        return {}
    if "compilefix" not in (text := path.read_text(encoding="utf-8", errors="replace")):
        return {}  # parsing costs start-up time
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text).get("tool", {}).get("compilefix", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in TYPES:
            raise UsageError(f"{path}: [tool.compilefix] has no setting {key!r}; it has {', '.join(TYPES)}")
        if not isinstance(value, TYPES[name]) or isinstance(value, bool):
            words = " or ".join({"str": "a string", "list": "a list"}.get(t.__name__, "a number") for t in TYPES[name])
            raise UsageError(f"{path}: [tool.compilefix] {key} must be {words}")
        found[name] = [_below(path.parent, name, item) for item in table[key]] if name in PATHS else value
    return found
