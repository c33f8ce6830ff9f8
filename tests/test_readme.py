"""The README's tables are those of the shipped measurements."""

from __future__ import annotations

import runpy
from pathlib import Path

from compilefix import ops
from compilefix.workarounds import hostile

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_strategies_is_the_measured_one() -> None:
    """``python scripts/strategies_table.py`` prints what belongs there."""
    table = runpy.run_path(str(ROOT / "scripts" / "strategies_table.py"))["table"]("slice_scatter")
    assert table in README


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"There are {len(ops.names())} drop-ins" in README
    assert f"in {len(hostile.patterns(ops.spec('slice_scatter')))} hostile patterns" in README
