"""The generated page of issues: one command brings it up to date, and its check says so."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "generate_docs.py"


def test_a_page_out_of_date_is_told_and_one_command_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that is missing or older than the records fails the check, which names the command."""
    main = runpy.run_path(str(SCRIPT))["main"]
    page = tmp_path / "docs" / "issues.md"
    main.__globals__["PAGE"] = page
    assert main(["--check"]) == 1
    assert "python scripts/generate_docs.py" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
    page.write_text(page.read_text(encoding="utf-8").replace("gh198094", "gh198093"), encoding="utf-8")
    assert main(["--check"]) == 1
