"""The table of records and releases: narrow and wide, with and without Unicode, and as Markdown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from compilefix import measured
from compilefix.measured import Measurement
from compilefix.registry import Record, discover
from compilefix.report import releases
from compilefix.report.signs import RELEASES
from compilefix.upgrade import matrix
from compilefix.upgrade.matrix import Matrix
from tests.runner.test_schedule import environment
from tests.test_measured import ABSENT, BAD, OK, row


def three() -> tuple[tuple[Record, ...], Matrix]:
    """Return three records, of which one is bad, one good and one not measured, and a release that failed."""
    records = discover().records[:3]
    cells = dict(zip([record.id for record in records], (BAD, OK, ABSENT), strict=True))
    rows = {id: row({"reference:cpu": OK, "inductor:cpu": cell}) for id, cell in cells.items()}
    failed = Measurement(environment=environment(torch="2.5.0"), failed="does not install: no wheel")
    return records, Matrix(measurements=(failed, Measurement(environment=environment(), rows=rows)))


@pytest.mark.parametrize("width", [50, 80, 200])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_three_shapes_tell_the_states_apart(width: int, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No colour is needed, no line is too long, and the counts are those of the signs."""
    monkeypatch.setattr("compilefix.report.table.unicode_output", lambda: encoding == "utf-8")
    records, found = three()
    text = releases.table(records, found, width=width)
    assert text.encode(encoding).decode(encoding) == text
    assert max(map(cell_len, text.splitlines())) <= width
    assert len({sign[encoding == "ascii"] for sign in RELEASES.values()}) == 3
    assert "torch 2.13.0: 1 bad, 1 good, 1 not measured" in text
    flat = " ".join(text.split())
    assert "torch 2.5.0: 0 bad, 0 good, 3 not measured (does not install: no wheel)" in flat


def test_many_releases_on_a_narrow_terminal_are_listed_below_each_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the columns do not fit, each sign stands with its release."""
    monkeypatch.setattr("compilefix.report.table.unicode_output", lambda: True)
    records, found = three()
    more = [replace(found.measurements[1], environment=environment(torch=f"2.{minor}.0")) for minor in range(6, 13)]
    text = releases.table(records, Matrix(measurements=(*more, *found.measurements)), width=50)
    assert max(map(cell_len, text.splitlines())) <= 50
    assert "✘ 2.13.0" in text
    assert "✘ 2.12.0" in text


def test_markdown_has_a_row_a_record_and_says_what_failed() -> None:
    """A release that does not install is in the table of environments, and its column is all points."""
    records, found = three()
    text = releases.markdown(records, found)
    signs = [line.split(" | ")[-2:] for line in text.splitlines() if line.startswith(("| [gh", "| gh"))]
    assert signs == [["·", "**✘** |"], ["·", "✔ |"], ["·", "· |"]]
    assert "| 2.5.0 | does not install: no wheel |" in text
    assert "| 2.13.0 | 1 | 1 | 1 |" in text


def test_the_interpreted_gpu_is_counted_over_what_was_tried(tmp_path: Path) -> None:
    """What never ran is not in the share; what is unsupported is, with its reason."""
    records, _ = three()
    gpu = "inductor:cuda-interpreted"
    rows = {r.id: row({"reference:cpu": OK}, beside={gpu: c}) for r, c in zip(records, (BAD, ABSENT), strict=False)}
    measured.merge(replace(Measurement(environment=environment()), rows=rows), tmp_path)
    text = releases.markdown(records, matrix.read(tmp_path))
    assert "| 2.13.0 | 2 | 1 | 50 % | 1 |" in text
    assert "torch 2.13.0, not run: 1 × no working C++ compiler" in text
