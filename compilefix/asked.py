"""What sources ask of compilefix: workarounds of records and drop-in ops, read without executing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from compilefix.errors import UsageError


def requests(paths: Iterable[Path]) -> dict[str, tuple[str, ...]]:
    """Return what the sources under `paths` ask for: a record's id, or ``op NAME``, to the places where they do."""
    found: dict[str, list[str]] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}")
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            try:
                tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
            except (SyntaxError, ValueError):
                continue  # not Python that this interpreter reads, so nothing in it runs here
            for subject, line in _requests(tree):
                found.setdefault(subject, []).append(f"{file}:{line}")
    return {subject: tuple(places) for subject, places in found.items()}


def _requests(tree: ast.Module) -> Iterator[tuple[str, int]]:
    aliases = {"compilefix.ops"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "compilefix.ops":
            yield from ((f"op {alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "compilefix":
            aliases |= {alias.asname or "ops" for alias in node.names if alias.name == "ops"}
        elif isinstance(node, ast.Import):
            aliases |= {a.asname for a in node.names if a.name == "compilefix.ops" and a.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in aliases:
            yield f"op {node.attr}", node.lineno
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "workaround" and node.args:
            argument = node.args[0]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value, node.lineno
