"""`list` and `explain`: what they say of a record, as text, Markdown and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from compilefix.registry import Record, read
from compilefix.report import listing
from compilefix.text import strip_ansi

ISSUE = '''"""
Rolling by a negative shift is applied twice.

Why: the index is rewritten in two places.
What to do: torch.roll by the positive complement.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager_decomp_partition",
    culprit="lowerings/roll",
    devices=("cpu", "cuda"),
    ops=("roll",),
    affected=(Affected(introduced="2.1", fixed="2.6"), Affected(first_seen="2.8.0")),
    config={"torch._inductor.config.max_autotune": True},
    workaround_config={"torch._inductor.config.cpp.simdlen": 1, "torch._inductor.config.pad": False},
    references=("https://github.com/pytorch/pytorch/issues/999999",),
    related=("gh5",),
)

SHIFT = -1  # any negative number


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(12.0, device=device),)


@torch.no_grad()
def program(x: torch.Tensor) -> torch.Tensor:
    return torch.roll(x, SHIFT)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.roll(x, 11)
'''

DISPUTED = '''"""
Told as wrong on CUDA; a test counted kernels.

Why: padding is decided by timing.
What to do: nothing.
"""

from compilefix.issue import Issue, Symptom

ISSUE = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor", disputed="The values | are right.")


def program():
    return 1
'''

CONTRACT = '''"""
A clone is told to own its memory; it may not.

Why: the clone is dropped.
What to do: clone outside.
"""

from compilefix.issue import Affected, Contract, Truth

CONTRACT = Contract(
    statement="x.clone() owns its memory.",
    truth=Truth.HOLDS,
    since="2.1",
    differs=(Affected(first_seen="2.8"),),
    stage="aot_eager",
)


def make(device):
    return lambda: None


def make_workaround(device):
    return lambda: 1


def drive(f):
    f()


def claim():
    """What would be."""
    return 2
'''

PLAIN = '''"""
The sum is told to be zero; it is not.

Why: it is one.
What to do: nothing.
"""

from compilefix.issue import Contract, Truth

CONTRACT = Contract(statement="The sum is 0.", truth=Truth.DOES_NOT_HOLD)


def program():
    return 1


def claim():
    return 0
'''

MEASURED = {"torch-2.13.0+cpu-py311-linux-x86_64": {"eager:cpu": "ok", "aot_eager:cpu": "ok", "inductor:cpu": "hang"}}


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Record, ...]:
    """Return an issue, a disputed one and a contract, from the current folder."""
    monkeypatch.chdir(tmp_path)
    names = {"gh999999_roll.py": ISSUE, "gh145189_told.py": DISPUTED, "contract_clone_owns_its_memory_x.py": CONTRACT}
    for name, text in names.items():
        Path(name).write_text(text, encoding="utf-8")
    return tuple(read(Path(name)) for name in names)


@pytest.fixture
def plain(tmp_path: Path) -> Record:
    """Return a contract to which compiled code keeps as plain code does."""
    path = tmp_path / "contract_sum.py"
    path.write_text(PLAIN, encoding="utf-8")
    return read(path)


def headings(text: str) -> list[str]:
    """Return the headings of an explanation on a terminal."""
    return [line for line in text.splitlines()[1:] if line and not line.startswith(" ")]


def test_the_list_in_full(records: tuple[Record, ...]) -> None:
    """One row a record with its title, or with its statement where it is a contract; counts and the next step below."""
    assert listing.list_table(records[1:], width=100) == (
        "id        symptom       stage     devices  affected         title\n"
        + "─" * 100
        + "\n"
        + "gh145189  wrong-result  inductor  cpu      none (disputed)  Told as wrong on CUDA; a test counted\n"
        "                                                            kernels\n"
        "\n"
        "id                                plain            compiled\n" + "─" * 100 + "\n"
        "contract-clone-owns-its-memory-x  holds since 2.1  differs\n"
        "  x.clone() owns its memory.\n"
        "  compiled code differs: seen from 2.8 (earlier: unknown), still open\n"
        "\n"
        "1 issue, 1 contract\n"
        "What one is about and what to do: compilefix explain gh145189\n"
    )


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_the_list_keeps_the_width_and_every_word(width: int, records: tuple[Record, ...]) -> None:
    """Releases that have no room in the row stand below it; nothing is cut."""
    text = listing.list_table(records, width=width)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []
    words = " ".join(text.split())
    ends = [r.title.split()[-1] for r in records if r.kind == "issue"]
    for expected in ("still open", "fixed in 2.6", "owns its memory.", *ends, *(r.id for r in records)):
        assert expected in words


def test_no_records() -> None:
    """An empty list says so."""
    assert listing.list_table(()) == "no records\n"


def test_the_list_as_json(records: tuple[Record, ...]) -> None:
    """Programs get the whole record, versions as they are written."""
    raw = json.loads(listing.list_json(records))
    assert raw["schema"] == 1
    first, disputed, contract = raw["records"]
    assert (first["id"], first["record"], first["symptom"]) == ("gh999999", "issue", "wrong-result")
    bounds = {
        "introduced": "2.1",
        "first_seen": None,
        "last_seen": None,
        "fixed": "2.6",
        "last_affected": None,
        "where": [],
    }
    assert first["affected"][0] == bounds
    assert first["workaround_config"]["torch._inductor.config.cpp.simdlen"] == 1
    assert (first["workaround"], disputed["workaround"], contract["workaround"]) == (True, False, True)
    assert disputed["disputed"] == "The values | are right."
    assert (contract["truth"], contract["since"]) == ("holds", "2.1")
    assert contract["truth_text"] == "holds since 2.1"
    assert contract["affected_text"] == "seen from 2.8 (earlier: unknown), still open"
    assert contract["differs"][0]["first_seen"] == "2.8"
    assert "truth_text" not in first


def test_an_explanation_in_full(records: tuple[Record, ...]) -> None:
    """Cause, remedy with its settings, facts, program with decorators and constants, workaround, measurements."""
    assert listing.explain_text(records[0], measured=MEASURED) == (
        "gh999999  Rolling by a negative shift is applied twice\n"
        "\n"
        "Why\n"
        "  The index is rewritten in two places.\n"
        "\n"
        "What to do\n"
        "  torch.roll by the positive complement.\n"
        "    import torch._inductor.config\n"
        "    torch._inductor.config.cpp.simdlen = 1\n"
        "    torch._inductor.config.pad = False\n"
        "\n"
        "Facts\n"
        "  symptom: wrong-result\n"
        "  first bad stage: aot_eager_decomp_partition\n"
        "  culprit: lowerings/roll\n"
        "  affected: >= 2.1, fixed in 2.6; seen from 2.8.0 (earlier: unknown), still open\n"
        "  devices: cpu, cuda\n"
        "  operators: roll\n"
        "  only with torch._inductor.config.max_autotune = True\n"
        "\n"
        "Program\n"
        "  gh999999_roll.py\n"
        "    import torch\n"
        "\n"
        "    SHIFT = -1  # any negative number\n"
        "\n"
        "\n"
        "    def inputs(device: str) -> tuple[torch.Tensor, ...]:\n"
        "        return (torch.arange(12.0, device=device),)\n"
        "\n"
        "\n"
        "    @torch.no_grad()\n"
        "    def program(x: torch.Tensor) -> torch.Tensor:\n"
        "        return torch.roll(x, SHIFT)\n"
        "\n"
        "Write instead\n"
        "    def workaround(x: torch.Tensor) -> torch.Tensor:\n"
        "        return torch.roll(x, 11)\n"
        "\n"
        "Measured\n"
        "  torch-2.13.0+cpu-py311-linux-x86_64: ok on eager:cpu, aot_eager:cpu; hang on inductor:cpu\n"
        "\n"
        "References\n"
        "  https://github.com/pytorch/pytorch/issues/999999\n"
        "\n"
        "Related\n"
        "  gh5\n"
        "\n"
        "Next\n"
        "  Try it on this torch, workaround included: compilefix check gh999999\n"
        '  Only while torch needs it: with compilefix.workaround("gh999999"): … (or as a decorator)\n'
        "  Every way around it, put to the proof: compilefix check gh999999 --workarounds\n"
        "  Set what stands under “What to do” before the first torch.compile\n"
        "  A report to send: compilefix check gh999999 --format markdown\n"
    )


def test_a_disputed_claim_is_told_first(records: tuple[Record, ...]) -> None:
    """The reader learns before all else that the claim is wrong, and finds no culprit."""
    text = listing.explain_text(records[1], measured={})
    assert headings(text)[:2] == ["Disputed: the popular claim is wrong", "Why"]
    assert "claimed symptom: wrong-result" in text
    assert "culprit" not in text
    assert "No rewrite and no setting is recorded that avoids it" in text


def test_what_was_not_measured_is_called_so(records: tuple[Record, ...]) -> None:
    """Without a measurement there is no claim."""
    assert "\nMeasured\n  not measured\n" in listing.explain_text(records[1], measured={})


def test_a_contract_tells_its_statement_and_the_truth(records: tuple[Record, ...]) -> None:
    """Statement first; the calls that drive it and the other way to write it are there."""
    text = listing.explain_text(records[2], measured={})
    assert headings(text)[0] == "Told, and it holds since 2.1; compiled code differs"
    assert "  plain code: it holds since 2.1; before 2.1 it does not hold\n" in text
    assert "  compiled code differs: seen from 2.8 (earlier: unknown), still open\n" in text
    assert "  first bad stage: aot_eager\n" in text
    assert '  def claim():\n        """What would be."""\n' in text.partition("if the statement were true")[2]
    program, _, instead = text.partition("Write instead")
    program, _, _ = program.partition("What it would do")
    assert "claim" not in program
    assert "def drive(f):" in program
    assert "def make(device):" in program
    assert "def make_workaround(device):" in instead
    assert "def make_workaround" not in program


def test_a_contract_to_which_compiled_code_keeps_has_no_symptom(plain: Record) -> None:
    """There is no stage, culprit or remedy to tell of where compiled code does as plain code does."""
    text = listing.explain_text(plain, measured={})
    assert headings(text)[0] == "Told, and it does not hold"
    assert "  compiled code: does the same\n" in text
    assert not re.search("symptom|stage|culprit|No rewrite", text)
    row = "contract-sum  does not hold  the same  The sum is 0."
    assert re.sub(" +", " ", listing.list_table([plain], width=120).splitlines()[2]) == re.sub(" +", " ", row)
    assert listing.list_table([plain], width=120).splitlines()[0].endswith("statement")


def test_colour_changes_no_character(records: tuple[Record, ...]) -> None:
    """Code is highlighted on request only."""
    for record in records:
        plain = listing.explain_text(record, measured=MEASURED)
        colored = listing.explain_text(record, measured=MEASURED, color=True)
        assert "\x1b" not in plain
        assert "\x1b[" in colored
        stripped = strip_ansi(colored)
        assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


def test_the_explanation_as_markdown(records: tuple[Record, ...]) -> None:
    """The same parts as on a terminal; code is fenced, commands are code, links stay links."""
    for record in records:
        text = listing.explain_markdown(record, measured=MEASURED)
        assert re.findall("^### (.*)", text, re.MULTILINE) == headings(listing.explain_text(record, measured=MEASURED))
        assert text.startswith(f"## {record.id}: ")
        assert f"- A report to send: `compilefix check {record.id} --format markdown`\n" in text
    text = listing.explain_markdown(records[0], measured=MEASURED)
    assert "\n- https://github.com/pytorch/pytorch/issues/999999\n" in text
    assert "```python\ndef workaround(x: torch.Tensor) -> torch.Tensor:\n    return torch.roll(x, 11)\n```" in text
    assert "> **The values \\| are right.**" in listing.explain_markdown(records[1], measured={})


def test_an_ascii_terminal_gets_an_ascii_list(records: tuple[Record, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules and quotes have an ASCII form."""
    monkeypatch.setattr("compilefix.report.table.unicode_output", lambda: False)
    assert listing.list_table(records).isascii()
    assert all(listing.explain_text(record, measured=MEASURED).isascii() for record in records)
