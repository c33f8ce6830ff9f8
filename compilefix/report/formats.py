"""How formats are found: each is a file of a package, named after it and imported only when chosen."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from typing import Any

from compilefix.errors import UsageError


def find(package: str, path: Iterable[str]) -> dict[str, str]:
    """Return format name to module name for the files of `package`; those that begin with ``_`` are no formats."""
    names = [module.name for module in pkgutil.iter_modules(path)]
    return {name: f"{package}.{name}" for name in names if not name.startswith("_")}


def load(formats: Mapping[str, str], name: str) -> Any:
    """Return the module of the format called `name`; raise `UsageError` for an unknown one."""
    if name not in formats:
        raise UsageError(f"unknown format {name!r}; one of {', '.join(formats)}")
    return importlib.import_module(formats[name])
