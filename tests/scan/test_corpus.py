"""Every shape of gate and of compiled region that projects write, with the right answers beside them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from packaging.version import Version

from compilefix.scan.gates import worth_parsing
from compilefix.scan.judge import Judge
from compilefix.scan.knowledge import Knowledge
from compilefix.scan.names import Names
from compilefix.scan.regions import Regions
from compilefix.scan.source import scan_text

HERE = Path(__file__).parent
SUPPORTED = Version("2.8.0"), Version("2.14.1")
MARK = re.compile(r"#> (.*)$")
DEFECTS = re.compile(r"CF2\d\d|CF10[34]")

Answer = tuple[str, str, str | None]
"""Ranges, verdict and code of a defect."""


def wanted(line: str) -> list[Answer]:
    """Read the answers behind ``#>``: ranges, verdict unless live, code of a defect; several gates by ``;``."""
    match = MARK.search(line)
    if match is None:
        return []
    answers = []
    for part in match[1].split(";"):
        words = part.split()
        code = next((w for w in words if w.startswith("CF")), None)
        verdict = next((w for w in words[1:] if not w.startswith("CF")), "live")
        answers.append((words[0], verdict, code))
    return answers


def spelled(ranges: tuple[tuple[str | None, str | None], ...] | None) -> str:
    """Return ranges as the corpus writes them."""
    if ranges is None:
        return "?"
    return ",".join(f"{low or ''}..{high or ''}" for low, high in ranges) or "never"


@pytest.mark.parametrize("path", sorted((HERE / "gates").glob("*.py")), ids=lambda p: p.stem)
def test_gates_are_found_and_judged(path: Path) -> None:
    """Each marked line has exactly its gates, each other line none."""
    source = path.read_text(encoding="utf-8")
    assert worth_parsing(source)
    found: dict[int, list[Answer]] = {}
    for f in scan_text(path.name, source, Knowledge(*SUPPORTED)):
        if f.kind == "gate":
            code = f.rule if DEFECTS.fullmatch(f.rule) else None
            found.setdefault(f.line, []).append((spelled(f.true_for), f.verdict, code))
    right = {n: answers for n, line in enumerate(source.splitlines(), 1) if (answers := wanted(line))}
    assert found == right


@pytest.mark.parametrize("path", sorted((HERE / "regions").glob("*.py")), ids=lambda p: p.stem)
def test_compiled_regions_are_told(path: Path) -> None:
    """Each marked call is inside, outside, or either."""
    source = path.read_text(encoding="utf-8")
    names = Names(ast.parse(source))
    regions = Regions(names, Judge(names, *SUPPORTED))
    calls = [n for n in names.nodes if isinstance(n, ast.Call)]
    for number, line in enumerate(source.splitlines(), 1):
        if match := MARK.search(line):
            call = max((n for n in calls if n.lineno == number), key=lambda n: n.col_offset)
            assert (number, regions.inside(call)) == (number, match[1])
