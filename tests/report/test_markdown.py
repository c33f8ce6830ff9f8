"""Markdown: fit to paste, whatever is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilefix.check import CheckReport
from compilefix.report.check import render
from compilefix.report.markdown import code, fence


def tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables of `text` as GitHub splits them: at pipes that no backslash escapes, outside fences."""
    rows: list[list[str]] = []
    ticks = ""
    for line in [*text.split("\n"), ""]:
        mark = re.match("`{3,}", line)
        if ticks:
            ticks = "" if line == ticks else ticks
        elif mark:
            ticks = mark[0]
        elif line.startswith("|"):
            rows.append(re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1])
        elif rows:
            yield rows
            rows = []


def section(text: str, id: str) -> str:
    """Return the part of `text` on one record."""
    return text.split(f"### {id}: ")[1].split("\n### ")[0]


def test_a_clear_report_in_full(reports: dict[str, CheckReport]) -> None:
    """Environment, summary, matrix, nothing else."""
    assert render("markdown", reports["clear"]) == (
        "## compilefix check: torch 2.13.0+cpu\n"
        "\n"
        "| environment |  |\n"
        "| --- | --- |\n"
        "| **torch** | 2.13.0+cpu |\n"
        "| **git hash** | cf30153c4c131c8164ee7798e5022d810682e2cb |\n"
        "| **Python** | 3.11.7 |\n"
        "| **OS** | Linux x86_64 |\n"
        "| **vector ISA** | avx512 |\n"
        "| **C++ compiler** | g++ (Debian 12.2.0-14+deb12u1) 12.2.0 |\n"
        "| **Triton** | none |\n"
        "| **CUDA of the build** | none |\n"
        "| **devices** | cpu |\n"
        "| **threads** | 1 |\n"
        "| **seed** | 0 |\n"
        "\n"
        "1 record on torch 2.13.0+cpu (cf30153c) · avx512 · g++ 12.2.0 · Python 3.11: 1 clear\n"
        "\n"
        "| record | title | on | reference | eager | aot_eager | aot_eager_decomp_partition | inductor | workaround"
        " | verdict |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| gh1 | Nothing wrong | cpu | ✔ ok | ✔ ok | ✔ ok | ✔ ok | ✔ ok |  | clear |\n"
    )


def test_the_section_of_a_defect(reports: dict[str, CheckReport]) -> None:
    """First and worst difference, what else goes wrong, the workaround, how to run it."""
    assert section(render("markdown", reports["mixed"]), "gh3") == (
        "Title of gh3\n"
        "\n"
        "- verdict: **regressed** (recorded symptom wrong-result; the record says of this torch: unaffected)\n"
        "- the record says that this torch is not affected, but aot_eager:cpu mismatch: values of result at \\[0, 1]:"
        " got 0.0, want 1.0\n"
        "- to run it again: `compilefix check gh3`\n"
        "\n"
        "**aot_eager:cpu: mismatch** (first that goes wrong)\n"
        "\n"
        "- `values of result at [0, 1]: got 0.0, want 1.0; 4 of 10 elements differ; worst by 3 at [2, 0]`\n"
        "\n"
        "- the same on `aot_eager_decomp_partition:cpu`, `inductor:cpu`\n"
        "- workaround mismatch (`values of result at [0, 1]: got 0.0, want 1.0`) on `aot_eager:cpu`,"
        " `aot_eager_decomp_partition:cpu`, `inductor:cpu`\n"
    )


def test_records_that_are_not_clear_have_a_section(report: CheckReport) -> None:
    """One each; clear ones and contracts that hold as recorded stay in the matrix."""
    headings = re.findall(r"^### ([\w-]+): ", render("markdown", report), re.MULTILINE)
    assert headings == [r.id for r in report.results if r.contradicts or r.verdict.value not in ("clear", "holds")]


def test_the_section_of_a_contract(reports: dict[str, CheckReport]) -> None:
    """Statement, verdict and record; what speaks against it; what contradicts the record is said."""
    text = render("markdown", reports["contracts"])
    assert section(text, "contract-b-does-not") == (
        "Title of contract-b-does-not\n"
        "\n"
        "- told: “The b does not.”\n"
        "- verdict: **does not hold** (the record says of this torch: does not hold)\n"
        "- values of result at \\[1]: told 1.0, is 2.0\n"
        "- to run it again: `compilefix check contract-b-does-not`\n"
    )
    assert "(the record says of this torch: eager and compiled differ, as wrong-result)" in section(
        text, "contract-c-differs"
    )
    assert "- the record says “holds”, but values of result at \\[1]: told" in section(text, "contract-d-new-truth")
    assert "but the plain program does what it says, and so does compiled code up to inductor:cpu" in section(
        text, "contract-e-same-now"
    )
    assert "- recorded as crash, seen wrong-result: inductor:cpu mismatch" in section(text, "contract-g-other")
    assert "(the record says of this torch: unknown)" in section(text, "contract-h-unknown")
    assert "| contract-a-holds | “The a holds.” | cpu |" in text


def test_errors_and_what_was_printed_are_quoted(reports: dict[str, CheckReport]) -> None:
    """The error text is in a fenced block on its lines; a crash and a harness failure show the end of stderr."""
    text = render("markdown", reports["mixed"])
    assert "```text\nRuntimeError: boom\nsecond line\n```" in section(text, "gh5")
    assert "no workaround was run on `cpu`" in section(text, "gh5")
    assert "End of its stderr:\n\n```text\nFatal Python error\n```" in section(text, "gh9")
    assert "```text\nTraceback\nOSError\n```" in section(text, "gh7")
    assert "no CUDA device here: not measured" in section(text, "gh6")
    assert "repros/gh10_bad.py:3: not valid Python" in text


def test_every_ladder_has_its_row_and_its_evidence(reports: dict[str, CheckReport]) -> None:
    """Devices and dynamic shapes are told apart, the first bad stage of each is bold."""
    text = render("markdown", reports["two devices"])
    matrix = list(tables(text))[1]
    assert [row[2].strip() for row in matrix[2:]] == ["cpu", "cpu dynamic", "cuda", "cuda dynamic"]
    bold = [[cell.strip() for cell in row if "**" in cell] for row in matrix[2:]]
    assert bold == [["**✘ mismatch**"], [], ["**✘ mismatch**"], ["**✘ error**"]]
    for target in ("inductor:cpu: mismatch", "aot_eager:cuda: mismatch", "eager:cuda:dynamic: error"):
        assert f"**{target}** (first that goes wrong)" in text


def test_an_interrupted_check_says_so_first(reports: dict[str, CheckReport]) -> None:
    """The reader must not take it for a whole one."""
    assert render("markdown", reports["interrupted"]).split("\n\n")[1].startswith("> **Interrupted**")


@pytest.mark.parametrize(
    ("text", "fenced"), [("plain", "```text\nplain\n```"), ("a ```` b", "`````text\na ```` b\n`````")]
)
def test_a_fence_is_longer_than_what_is_in_it(text: str, fenced: str) -> None:
    """Backticks in an error message do not end its block."""
    assert fence(text) == fenced


@pytest.mark.parametrize(("text", "span"), [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("", "`  `")])
def test_a_code_span_holds_backticks(text: str, span: str) -> None:
    """The span has more backticks than its text, and a blank where the text begins or ends with one."""
    assert code(text) == span


@given(text=st.text(alphabet=st.sampled_from("|\\`*_<[~&a \n\r\t\x1b")) | st.text())
def test_any_text_keeps_the_columns(text: str, worded: Callable[[str], CheckReport]) -> None:
    """All rows of a table have as many cells as its header, and every fence is closed."""
    rendered = render("markdown", worded(text))
    found = list(tables(rendered))
    assert len(found) == 2
    for rows in found:
        assert {len(row) for row in rows} == {len(rows[0])}
    ticks = ""
    for line in rendered.split("\n"):
        mark = re.match("`{3,}(?=text$)", line)
        if not ticks and mark:
            ticks = mark[0]
        elif line == ticks:
            ticks = ""
    assert ticks == ""
