"""The registry reads records without running them, names what is broken, and hides nothing behind it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compilefix.errors import RecordError, UsageError
from compilefix.issue import STAGES, Affected, Contract, Issue, Symptom
from compilefix.registry import Registry, discover, read, record_id, shipped_folder

GOOD = '''"""
Rolling twice is one too many.

Why: the index is rewritten in two places,
and both count.
What to do: roll by the complement.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    ops=("roll",),
    affected=(Affected(introduced="2.1", fixed="2.6"),),
    config={"torch._inductor.config.shape_padding": False},
)


def program(x):
    return torch.roll(x, -1)
'''
RECORD = 'ISSUE = Issue(symptom=Symptom.ERROR, stage="eager")'
CONTRACT = 'CONTRACT = Contract(statement="It holds.", truth=Truth.HOLDS)'
DIFFERS = 'CONTRACT = Contract(statement="s", truth=Truth.HOLDS, differs=(Affected(introduced="2.6"),), stage="eager")'
CLAIMED = "def program():\n    return 1\ndef claim():\n    return 1\n"
PROGRAM = "def program():\n    return 1\n"


def source(record: str = RECORD, program: str = PROGRAM, title: str = '"""Title."""') -> str:
    """Return the text of a repro; its record is on line 2."""
    return f"{title}\n{record}\n{program}"


def folder(path: Path, **files: str) -> Path:
    """Write repros into `path`."""
    path.mkdir(exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.py").write_text(text, encoding="utf-8")
    return path


def only(*paths: Path) -> Registry:
    """Read folders without the shipped one."""
    return discover(paths, shipped=False)


def test_a_record_is_read_whole(tmp_path: Path) -> None:
    """Id, title, words, record and functions come out of the text."""
    (record,) = only(folder(tmp_path, gh7_roll=GOOD)).records
    assert (record.id, record.kind, record.line) == ("gh7", "issue", 13)
    assert record.title == "Rolling twice is one too many"
    assert record.why == "the index is rewritten in two places, and both count."
    assert record.what_to_do == "roll by the complement."
    assert record.known == Issue(
        symptom=Symptom.WRONG_RESULT,
        stage="inductor",
        ops=("roll",),
        affected=(Affected(introduced="2.1", fixed="2.6"),),
        config={"torch._inductor.config.shape_padding": False},
    )
    assert record.functions == ("program",)
    assert record.function_source("program") == "def program(x):\n    return torch.roll(x, -1)"
    assert record.function_source("inputs") is None


def test_nothing_of_a_repro_is_executed(tmp_path: Path) -> None:
    """A repro that would end the process, or write a file, is only read."""
    trap = f"import os\nopen({str(tmp_path / 'ran')!r}, 'w')\nos._exit(3)\n"
    (record,) = only(folder(tmp_path / "r", local_trap=source() + trap)).records
    assert record.id == "local-trap"
    assert not (tmp_path / "ran").exists()


BROKEN = {
    "gh1_syntax": ('"""T."""\nISSUE = Issue(\n\n', 2, "not valid Python: '(' was never closed"),
    "gh2_docstring": (f"import torch\n{RECORD}\n{PROGRAM}", 1, "no docstring; its first line is the title"),
    "gh3_program": (source(program="x = 1"), 1, "no program: define program(*inputs), or make(device)"),
    "gh4_literal": (
        source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager",\n    ops=tuple("ab"))'),
        3,
        "a record holds literals only, not \"tuple('ab')\"",
    ),
    "gh5_field": (
        source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager", colour=1)'),
        2,
        "unexpected keyword argument 'colour'",
    ),
    "gh6_symptom": (
        source('ISSUE = Issue(symptom=Symptom.WRONG, stage="eager")'),
        2,
        "no Symptom.WRONG; one of WRONG_RESULT, ",
    ),
    "gh7_stage": (
        source('ISSUE = Issue(symptom=Symptom.ERROR, stage="fusion")'),
        2,
        "stage 'fusion' is not one of eager, ",
    ),
    "gh8_two": (source(f"{RECORD}\n{CONTRACT}"), 3, "need exactly one ISSUE = Issue(...) or CONTRACT = Contract(...)"),
    "gh9_none": (source("x = 1"), 1, "need exactly one ISSUE = Issue(...) or CONTRACT = Contract(...)"),
    "gh10_positional": (source('ISSUE = Issue("eager", Symptom.ERROR)'), 2, "Issue(...) takes keyword arguments only"),
    "gh11_splat": (source("ISSUE = Issue(**FIELDS)"), 2, "Issue(...) takes keyword arguments only"),
    "gh12_range": (
        source(
            'ISSUE = Issue(symptom=Symptom.ERROR, stage="eager",\n affected=(Affected(introduced="2.6", fixed="2.5"),))'
        ),
        3,
        "the range from 2.6 to 2.5 is empty",
    ),
    "gh13_required": (
        source("ISSUE = Issue(symptom=Symptom.ERROR)"),
        2,
        "missing 1 required keyword-only argument: 'stage'",
    ),
    "contract_claim": (source(CONTRACT), 2, "no claim: a contract defines claim(*inputs), plain Python"),
    "contract_truth": (
        source('CONTRACT = Contract(statement="s", truth=Truth.MAYBE)', CLAIMED),
        2,
        "no Truth.MAYBE; one of HOLDS, DOES_NOT_HOLD, DIFFER",
    ),
    "contract_differ": (
        source('CONTRACT = Contract(statement="s", truth=Truth.DIFFER)', CLAIMED),
        2,
        "must be Truth.HOLDS or Truth.DOES_NOT_HOLD",
    ),
    "gh14_kind": (source('ISSUE = Affected(fixed="2.6")'), 2, "the record must be Issue(...) or Contract(...)"),
    "gh15_literal": (source("ISSUE = 5"), 2, "the record must be Issue(...) or Contract(...)"),
    "gh16_comma": (
        source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager", ops=("gather"))'),
        2,
        "ops='gather' must be a tuple of str",
    ),
    "gh17_text": (
        source('ISSUE = Issue(symptom="error", stage="eager")'),
        2,
        "symptom='error' must be one of Symptom.",
    ),
    "gh18_setting": (
        source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager", config={"x": 1})'),
        2,
        "setting 'x' must be a full name",
    ),
    "gh19_number": (
        source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager", affected=(Affected(fixed=2.6),))'),
        2,
        "fixed=2.6 must be a string such as '2.6'",
    ),
    "gh21_empty": ("", 1, "no docstring"),
    "Upper_case": (
        source(),
        1,
        "file name must be gh<number>_<slug>.py, local_<slug>.py or contract_<slug>.py (lower case)",
    ),
    "gh_number": (source(), 1, "file name must be gh<number>_<slug>.py"),
    "helper": (source(), 1, "file name must be gh<number>_<slug>.py"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_record_is_named_with_file_and_line_and_hides_no_other(name: str, tmp_path: Path) -> None:
    """Each mistake gives ``file:line: what is wrong``; the records beside it are there."""
    text, line, message = BROKEN[name]
    registry = only(folder(tmp_path, gh0_before=GOOD, **{name: text}, local_after=source()))
    assert [r.id for r in registry.records] == ["gh0", "local-after"]
    (error,) = registry.broken
    assert isinstance(error, RecordError)
    place = f"{tmp_path / name}.py:{line}: "
    assert str(error)[: len(place)] == place
    assert message in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"""T\x00."""\n', "null byte"),
        (source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager", compile={[1]: 2})'), "unhashable type: 'list'"),
        (source('ISSUE = Issue(symptom=Symptom.ERROR, stage="eager", expects={"x": ' + "-" * 5000 + "1})"), ""),
    ],
    ids=["null byte", "unhashable key", "too deep"],
)
def test_text_that_python_itself_refuses_is_named(text: str, message: str, tmp_path: Path) -> None:
    """Null bytes, keys that are no keys and endless nesting are broken records as well, and end nothing."""
    registry = only(folder(tmp_path, gh0_before=GOOD, gh1_odd=text))
    assert [r.id for r in registry.records] == ["gh0"]
    (error,) = registry.broken
    assert re.match(rf"{re.escape(str(tmp_path))}/gh1_odd\.py:\d+: ", str(error))
    assert message in str(error)


def test_a_file_that_is_not_utf_8_or_no_file_is_named(tmp_path: Path) -> None:
    """Bytes that are no text, a folder and a dangling link with the name of a repro are broken records."""
    folder(tmp_path, gh0_before=GOOD)
    (tmp_path / "gh1_latin.py").write_bytes('"""Größe."""\n'.encode("latin-1"))
    (tmp_path / "gh2_folder.py").mkdir()
    (tmp_path / "gh3_link.py").symlink_to(tmp_path / "nowhere")
    registry = only(tmp_path)
    assert [r.id for r in registry.records] == ["gh0"]
    assert [str(e).partition(":1: ")[::2][0] for e in registry.broken] == [
        str(tmp_path / name) for name in ("gh1_latin.py", "gh2_folder.py", "gh3_link.py")
    ]
    assert all(": cannot be read: " in str(e) for e in registry.broken)


def test_an_id_that_is_taken_is_named_with_its_owner(tmp_path: Path) -> None:
    """Of two files with one id, in one folder or in two, the first one stays."""
    one = folder(tmp_path / "one", gh5_a=GOOD, gh5_b=GOOD)
    two = folder(tmp_path / "two", gh5_c=GOOD, gh6_d=GOOD)
    registry = only(one, two)
    assert [(r.id, r.path.name) for r in registry.records] == [("gh5", "gh5_a.py"), ("gh6", "gh6_d.py")]
    taken = f"id gh5 is already taken by {one / 'gh5_a.py'}; ids are never reused"
    assert [str(e) for e in registry.broken] == [f"{one / 'gh5_b.py'}:1: {taken}", f"{two / 'gh5_c.py'}:1: {taken}"]


def test_a_folder_that_does_not_exist_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    """A missing folder is no empty registry."""
    with pytest.raises(UsageError, match="no such folder of repros: "):
        only(tmp_path / "nowhere")
    assert only(folder(tmp_path / "empty")).records == ()


@pytest.mark.parametrize(
    ("name", "id"),
    [("gh123_roll.py", "gh123"), ("contract_clone_owns.py", "contract-clone-owns"), ("local_a_b.py", "local-a-b")],
)
def test_the_file_name_is_the_id(name: str, id: str) -> None:
    """Ids need no register of their own."""
    assert record_id(Path(name)) == id


@pytest.fixture
def several(tmp_path: Path) -> Registry:
    """Return a registry with records of several stages, symptoms, operators and kinds."""
    return only(
        folder(
            tmp_path,
            gh20_roll=GOOD,
            gh3_error=source(),
            local_cuda=source(
                'ISSUE = Issue(symptom=Symptom.CRASH, stage="aot_eager", devices=("cuda",), ops=("mm", "roll"))'
            ),
            contract_holds=source(CONTRACT, CLAIMED),
            contract_differs=source(DIFFERS, CLAIMED),
        )
    )


def test_records_are_in_the_order_of_their_numbers(several: Registry) -> None:
    """Upstream numbers first, as numbers; then the others by name."""
    assert [r.id for r in several.records] == ["gh3", "gh20", "contract-differs", "contract-holds", "local-cuda"]
    assert [r.kind for r in several.records] == ["issue", "issue", "contract", "contract", "issue"]


@pytest.mark.parametrize(
    ("ids", "select", "ignore", "want"),
    [
        ([], [], [], ["gh3", "gh20", "contract-differs", "contract-holds", "local-cuda"]),
        (["gh20", "gh3", "gh20"], [], [], ["gh20", "gh3"]),
        ([], ["gh3"], [], ["gh3"]),
        ([], ["stage:eager"], [], ["gh3", "contract-differs"]),
        ([], ["symptom:wrong-result"], [], ["gh20", "contract-differs"]),
        ([], ["op:roll"], [], ["gh20", "local-cuda"]),
        ([], ["op:roll", "gh3"], [], ["gh3", "gh20", "local-cuda"]),
        ([], ["op:roll"], ["device:cuda"], ["gh20"]),
        ([], [], ["record:contract", "stage:aot_eager"], ["gh3", "gh20"]),
        (["gh3", "gh20"], ["stage:inductor"], [], ["gh20"]),
        ([], ["record:contract"], [], ["contract-differs", "contract-holds"]),
    ],
)
def test_terms_select_and_ignore(
    several: Registry, ids: list[str], select: list[str], ignore: list[str], want: list[str]
) -> None:
    """A record stays when it matches any selected term and no ignored one."""
    assert [r.id for r in several.select(ids, select, ignore)] == want


@pytest.mark.parametrize(
    ("ids", "select", "ignore", "message"),
    [
        (["gh21"], [], [], "unknown id 'gh21'; did you mean gh20"),
        (["local-kuda"], [], [], "did you mean local-cuda?"),
        (["zzz"], [], [], "unknown id 'zzz'; `compilefix list` shows all ids"),
        ([], ["gh2"], [], "unknown id 'gh2'; did you mean "),
        ([], [], ["gh999999"], "unknown id 'gh999999'"),
        ([], ["colour:red"], [], "unknown selector 'colour:red'; write an id or one of stage:…, symptom:…, op:…, "),
        (
            [],
            ["stage:fusion"],
            [],
            "nothing is 'stage:fusion'; stage is one of aot_eager, aot_eager_decomp_partition, eager, inductor",
        ),
        ([], ["op:"], [], "nothing is 'op:'; op is one of mm, roll"),
        (
            [],
            ["stage:aot_eager_decomp_partition"],
            [],
            "the selection is empty: no record matches stage:aot_eager_decomp_",
        ),
        ([], ["gh3"], ["stage:eager"], "the selection is empty: no record matches gh3 stage:eager"),
    ],
)
def test_unknown_words_are_mistakes_with_a_hint(
    several: Registry, ids: list[str], select: list[str], ignore: list[str], message: str
) -> None:
    """An unknown id suggests near ones, an unknown term the known ones, and nothing left is an error."""
    with pytest.raises(UsageError) as caught:
        several.select(ids, select, ignore)
    assert message in str(caught.value)


SHIPPED = discover()


def test_all_shipped_records_can_be_read() -> None:
    """The shipped folder has records and no broken one."""
    assert [str(e) for e in SHIPPED.broken] == []
    assert len(SHIPPED.records) == len(list(shipped_folder().glob("*.py"))) >= 25


def test_reading_imports_neither_torch_nor_a_repro() -> None:
    """Listing works where torch is absent."""
    code = (
        "import sys\nfrom compilefix.registry import discover\n"
        "registry = discover()\nassert registry.records and not registry.broken\n"
        "bad = {m for m in sys.modules if m.partition('.')[0] in ('torch', 'numpy', 'rich') or m.startswith('gh')}\n"
        "assert not bad, bad\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


IMPORT = """
import importlib.util, json, sys
found = {}
for line in sys.stdin.read().splitlines():
    spec = importlib.util.spec_from_file_location("repro_" + str(len(found)), line)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    known = getattr(module, "ISSUE", None) or module.CONTRACT
    functions = [n for n in ("program", "make") if callable(getattr(module, n, None))]
    found[line] = (repr(known), functions)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, tuple[str, list[str]]]:
    """Import all shipped repros in one process; return the text of each record and its entry points."""
    paths = "\n".join(str(r.path) for r in SHIPPED.records)
    done = subprocess.run([sys.executable, "-c", IMPORT], input=paths, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("id", [r.id for r in SHIPPED.records])
class TestShipped:
    """Every record that ships."""

    def test_what_is_read_is_what_python_sees(self, id: str, imported: dict[str, tuple[str, list[str]]]) -> None:
        """The record read with `ast` equals that of the imported module, whose program exists."""
        record = SHIPPED.get(id)
        text, functions = imported[str(record.path)]
        assert text == repr(record.known)
        assert functions == [name for name in ("program", "make") if name in record.functions]
        assert len(functions) == 1

    def test_the_words_are_there(self, id: str) -> None:
        """A title on one line, a reason, and what to do; at most 80 lines."""
        record = SHIPPED.get(id)
        assert len(record.title) <= 120
        assert "\n" not in record.title
        assert min(len(record.why), len(record.what_to_do)) > 20
        assert len(record.source.splitlines()) <= 80

    def test_links_and_neighbours_exist(self, id: str) -> None:
        """Links lead to GitHub or PyTorch's documentation, an upstream number to its issue, neighbours to records."""
        record = SHIPPED.get(id)
        hosts = {link.split("/")[2] for link in record.known.references}
        assert hosts <= {"github.com", "docs.pytorch.org"}
        assert record.known.references or record.known.related or id.startswith("local-")
        if id.startswith("gh"):
            number = id.removeprefix("gh")
            assert any(link.endswith((f"/issues/{number}", f"/pull/{number}")) for link in record.known.references)
        assert set(record.known.related) <= {r.id for r in SHIPPED.records} - {id}

    def test_the_record_can_be_run_and_judged(self, id: str) -> None:
        """A stage of torch's, inputs that the program needs, a range or the reason for none, no stray function."""
        record = SHIPPED.get(id)
        assert record.known.stage in STAGES
        helpers = ("inputs", "drive", "workaround", "make_workaround", "drive_workaround", "facts")
        if isinstance(record.known, Contract):
            assert record.known.statement.endswith(".")
            assert len(record.known.statement) <= 100
            claim, program = (record.function_source(name) for name in ("claim", "program"))
            assert claim is not None
            assert program is None or claim.partition(":\n")[2] != program.partition(":\n")[2]
            assert record.goes_wrong or not record.has_workaround  # nothing would run it
        elif record.known.disputed is None:
            assert record.known.affected
        assert "workaround" not in record.functions or "program" in record.functions
        assert any(name in record.functions for name in helpers)
        if "facts" not in record.functions:
            assert set(record.known.expects) <= {"graphs", "graph_breaks", "recompiles"}


def test_a_read_error_is_one_exception(tmp_path: Path) -> None:
    """`read` raises `RecordError` and nothing else for a file that is wrong."""
    with pytest.raises(RecordError, match=r"gh1_x\.py:1: cannot be read: "):
        read(tmp_path / "gh1_x.py")
