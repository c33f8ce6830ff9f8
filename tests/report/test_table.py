"""The table: what it says, at every width, with and without colours and Unicode."""

from __future__ import annotations

import dataclasses
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from compilefix.check import CheckReport
from compilefix.outcome import Did, Verdict
from compilefix.report import interface
from compilefix.report.check import render
from compilefix.text import strip_ansi

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (60, 80, 100, 120, 200)
TEXT = st.text(alphabet=st.characters(codec=None), max_size=300)


@pytest.fixture
def ascii_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the terminal one that has ASCII only."""
    monkeypatch.setattr("compilefix.report.table.unicode_output", lambda: False)


def too_long(text: str, width: int) -> list[str]:
    """Return the lines that are wider than `width` terminal cells."""
    return [line for line in text.splitlines() if cell_len(line) > width]


def rows(text: str) -> str:
    """Return the part of a table between its rule and its legend."""
    return text.partition("─\n")[2].partition("\n\n")[0]


@pytest.mark.parametrize(
    ("name", "width"),
    [("mixed", 60), ("mixed", 100), ("mixed", 200), ("two devices", 120), ("interrupted", 80), ("contracts", 100)],
)
def test_the_table_in_full(name: str, width: int, reports: dict[str, CheckReport]) -> None:
    """The whole text is the reviewed one."""
    path = GOLDEN / f"{name.replace(' ', '-')}-{width}.txt"
    assert render("table", reports[name], width=width) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(width: int, report: CheckReport) -> None:
    """Long titles, ids and reasons fold."""
    assert too_long(render("table", report, width=width), width) == []


@pytest.mark.usefixtures("ascii_terminal")
@pytest.mark.parametrize("width", WIDTHS)
def test_an_ascii_terminal_gets_ascii(width: int, report: CheckReport) -> None:
    """Symbols, rules and foreign text have an ASCII form, at the same widths."""
    text = render("table", report, width=width)
    assert text.isascii()
    assert too_long(text, width) == []


def test_a_pipe_gets_a_hundred_columns(reports: dict[str, CheckReport]) -> None:
    """Where no terminal reads the table its width does not depend on the environment."""
    assert render("table", reports["mixed"]) == render("table", reports["mixed"], width=100)


def test_colours_only_on_request(reports: dict[str, CheckReport], monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours change no character; neither NO_COLOR nor FORCE_COLOR overrules what was asked for."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    plain = render("table", reports["mixed"])
    assert "\x1b" not in plain
    monkeypatch.setenv("NO_COLOR", "1")
    colored = render("table", reports["mixed"], color=True)
    assert "\x1b[32m" in colored
    stripped = strip_ansi(colored)
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_bad_stage_of_each_ladder_is_marked(width: int, reports: dict[str, CheckReport]) -> None:
    """The mark stands before the cell of the first stage that goes wrong, and nowhere else."""
    for name in ("mixed", "two devices", "contracts", "clear", "one target"):
        report = reports[name]
        bad = [found for result in report.results for found in interface.ladders(result) if found.first_bad]
        assert rows(render("table", report, width=width)).count("▸") == len(bad)
    line = next(li for li in rows(render("table", reports["mixed"], width=width)).splitlines() if "regressed" in li)
    before, after = line.split("▸")
    assert (before.count("✔"), after.count("✘") >= 3) == (2, True)


def test_ok_is_printed_for_ok_runs_only(reports: dict[str, CheckReport]) -> None:
    """Targets that did not run are never shown as right."""
    report = reports["one target"]
    ran = sum(outcome.did is Did.OK for result in report.results for outcome in result.outcomes.values())
    words = rows(render("table", report, width=100))
    assert (words.count("✔ ok"), words.count("· not run")) == (ran, 2)
    symbols = rows(render("table", report, width=50)).replace("✔ clear", "")
    assert (symbols.count("✔"), symbols.count("·")) == (ran, 2)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_symbols_without_words_are_explained(width: int, reports: dict[str, CheckReport]) -> None:
    """The legend has every outcome symbol and every column letter of a table whose cells have no words."""
    report = reports["mixed"]
    text = render("table", report, width=width)
    done = {outcome.did for result in report.results for outcome in result.outcomes.values()}
    assert done == set(Did)
    legend = " ".join(text.partition("\n\n")[2].partition("\n\n")[0].split())
    symbols = dict(pair.split("=") for pair in legend.partition(" R=")[0].split(", "))
    assert set(symbols.values()) == {did.value for did in done}
    assert len(symbols) == len(done)
    assert "R=reference, E=eager, A=aot_eager, D=aot_eager_decomp_partition, I=inductor" in legend


def test_words_come_with_room(reports: dict[str, CheckReport]) -> None:
    """With room every cell has its symbol and its word, and the title stands in the row."""
    lines = render("table", reports["mixed"], width=200).splitlines()
    assert re.split(r"  +", lines[2].replace("▸", "")) == [
        "gh1", "cpu", "✔ ok", "✔ ok", "✔ ok", "✔ ok", "✘ mismatch", "✔ works", "● reproduces", "Title of gh1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("did", "workarounds", "cell"),
    [
        ({"inductor": "mismatch"}, {"inductor": "ok"}, "✔ works"),
        ({"aot_eager": "crash", "inductor": "hang"}, {"aot_eager": "numerics", "inductor": "ok"}, "✔ works"),
        ({"aot_eager": "crash", "inductor": "hang"}, {"aot_eager": "ok", "inductor": "error"}, "≈ partly"),
        ({"inductor": "mismatch"}, {"inductor": "mismatch"}, "✘ no help"),
        ({"inductor": "mismatch"}, {"inductor": "unresolved"}, "? unclear"),
        ({"aot_eager": "crash", "inductor": "hang"}, {"aot_eager": "ok"}, "? unclear"),
        ({"inductor": "mismatch"}, {}, "– none"),
        ({"inductor": "ok"}, {}, ""),
    ],
)
def test_what_the_workaround_came_to(
    did: dict[str, str], workarounds: dict[str, str], cell: str, row: Callable[..., CheckReport]
) -> None:
    """It works if it is right wherever the program is not; what was not tried is not claimed."""
    header, _, line, *_ = render("table", row(Verdict.REPRODUCES, {"reference": "ok"} | did, workarounds)).splitlines()
    assert line[header.index("workaround") : header.index("verdict")].strip() == cell


def test_reasons_are_grouped(reports: dict[str, CheckReport]) -> None:
    """What is not supported is told once for all records that it concerns."""
    text = render("table", reports["unsupported"])
    assert text.count("no CUDA device here") == 1
    assert "  no CUDA device here: not measured: gh1, gh2\n" in text


def test_the_summary_line(reports: dict[str, CheckReport]) -> None:
    """Counts, build, instruction set, compiler and Python in one sentence; then what to do."""
    lines = render("table", reports["clear"]).splitlines()
    assert lines[-1] == "1 record on torch 2.13.0+cpu (cf30153c) · avx512 · g++ 12.2.0 · Python 3.11: 1 clear"
    assert "What to write instead: compilefix explain gh1\n" in render("table", reports["mixed"])


@pytest.mark.parametrize(
    ("cxx", "name"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "g++ 12.2.0"),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", "Apple clang 15.0.0"),
        (None, "no C++ compiler"),
        ("(odd)", "(odd)"),
    ],
)
def test_compilers_are_named_shortly(cxx: str | None, name: str) -> None:
    """Packaging noise goes, name and version stay."""
    assert interface.compiler(cxx) == name


def test_a_workaround_that_was_not_tried_is_not_one_that_is_missing(row: Callable[..., CheckReport]) -> None:
    """A record that has a workaround says `not run` where the check left it out, and not `none`."""
    report = row(Verdict.REPRODUCES, {"reference": "ok", "inductor": "mismatch"})
    (result,) = report.results
    table = render("table", dataclasses.replace(report, results=(dataclasses.replace(result, has_workaround=True),)))
    assert "· not run" in table
    assert "– none" not in table


@pytest.mark.parametrize(("encoding", "able"), [("utf-8", True), ("ascii", False), ("latin-1", False), ("none", False)])
def test_symbols_depend_on_the_encoding(encoding: str, able: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output must have all symbols, or none is used."""

    class Stream(io.StringIO):
        pass

    Stream.encoding = property(lambda self: encoding)  # type: ignore[assignment, method-assign]
    monkeypatch.setattr(sys, "stdout", Stream())
    assert interface.unicode_output() is able


@given(text=TEXT, width=st.sampled_from([50, 60, 73, 100, 200]))
def test_any_text_keeps_the_width(text: str, width: int, worded: Callable[[str], CheckReport]) -> None:
    """No text of a program or of a record breaks the layout."""
    rendered = render("table", worded(text), width=width)
    assert too_long(rendered, width) == []
    assert "gh1" in rendered


def test_the_interpreted_ladder_is_headed_by_the_reference_of_the_cpu(row: Callable[..., CheckReport]) -> None:
    """It is a row of its own, and a reference that heads it stands nowhere alone."""
    report = row(Verdict.REPRODUCES, {"reference:cpu": "ok", "inductor:cuda-interpreted": "mismatch"})
    (found,) = interface.ladders(report.results[0])
    assert (found.label, list(found.outcomes), found.first_bad) == (
        "cuda-interpreted",
        ["reference", "inductor"],
        "inductor",
    )
    assert str(found.target("reference")) == "reference:cpu"
    both = row(
        Verdict.REPRODUCES, {"reference:cpu": "ok", "inductor:cpu": "ok", "inductor:cuda-interpreted": "mismatch"}
    )
    assert [found.label for found in interface.ladders(both.results[0])] == ["cpu", "cuda-interpreted"]
    assert "cuda-interpreted" in rows(render("table", both, width=120))
