"""Pages that are made while the site is built: the commands from their help, ops and recipes from their docstrings."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from compilefix import cli

PACKAGE = Path(cli.__file__).parents[1]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for name, text in (("commands.md", _commands()), ("ops.md", _ops()), ("recipes.md", _recipes())):
        files.append(File.generated(config, name, content=text))
    return files


def _commands() -> str:
    before, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "96"
    try:
        top = cli.parser()
        parts = ["# Commands\n\nWhat `--help` says.\n", _fenced(top.format_help())]
        for action in top._actions:
            for name, child in (getattr(action, "choices", None) or {}).items():
                parts.append(f"## {name}\n\n{_fenced(child.format_help())}")
    finally:
        os.environ.pop("COLUMNS")
        os.environ.update({"COLUMNS": before} if before is not None else {})
    return "\n".join(parts)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def _ops() -> str:
    lines = [
        "# Drop-in ops\n",
        "`from compilefix.ops import slice_scatter`: upstream's signature; on a torch that no record affects it is",
        "torch's own function, elsewhere the cheapest strategy that was measured to be right.\n",
        "::: compilefix.ops\n    options: {members: [choice, names, spec, strategies, strategy]}\n",
    ]
    return "\n".join(lines + [f"::: compilefix.ops.{module}.{name}\n" for module, name in _drop_ins()])


def _drop_ins() -> Iterator[tuple[str, str]]:
    """Yield module and name of every op: the functions with a docstring and no body, which stand for torch's own."""
    for path in sorted((PACKAGE / "ops").glob("op_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Raise) and len(node.body) == 2:
                yield path.stem, node.name


def _recipes() -> str:
    names = sorted(p.stem for p in (PACKAGE / "recipes").glob("*.py") if not p.stem.startswith("_"))
    lines = ["# Recipes\n", "Functions that the field keeps rewriting, each right in plain and in compiled code.\n"]
    return "\n".join(lines + [f"::: compilefix.recipes.{name}.{name}\n" for name in names])
