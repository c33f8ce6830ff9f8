"""``--fix`` removes what is provably dead and nothing else, and what it writes still runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from packaging.version import Version

from compilefix.registry import discover
from compilefix.scan import edit, scan

HEAD = "import torch\nfrom packaging.version import parse\n\nV = parse(torch.__version__)\n"


def fixed(tmp_path: Path, body: str, **more: object) -> str:
    """Return what becomes of a file for torch 2.6 to 2.14.1, without its head."""
    path = tmp_path / "file.py"
    path.write_text(HEAD + body, encoding="utf-8")
    records = discover().records if "scatter" in body else []
    report = scan([path], minimum=Version("2.6"), maximum=Version("2.14.1"), records=records, **more)  # type: ignore[arg-type]
    changes, failed = edit.changes(report.findings)
    assert failed == []
    for change in changes:
        ast.parse(change.after)
        change.write()
    return path.read_text(encoding="utf-8").removeprefix(HEAD)


CASES = {  # one line a case
    "else dies": ('if V >= parse("2.4"):\n    # why\n    a = 1\nelse:\n    a = 2\n', "# why\na = 1\n"),
    "boundary": ('if V < parse("2.6"):\n    a = 1\nb = 2\n', "b = 2\n"),
    "boundary and later": ('if V < parse("2.6.1"):\n    a = 1\n', None),
    "elif true": (
        'if V >= parse("2.12"):\n    a = 1\nelif V >= parse("2.5"):\n    a = 2\nelse:\n    a = 3\n',
        'if V >= parse("2.12"):\n    a = 1\nelse:\n    a = 2\n',
    ),
    "elif false": (
        'if V >= parse("2.12"):\n    a = 1\nelif V < parse("2.5"):\n    a = 2\nelse:\n    a = 3\n',
        'if V >= parse("2.12"):\n    a = 1\nelse:\n    a = 3\n',
    ),
    "if before elif": (
        'if V < parse("2.5"):\n    a = 1\nelif V >= parse("2.12"):\n    a = 2\n',
        'if V >= parse("2.12"):\n    a = 2\n',
    ),
    "not": ('if not V >= parse("2.5"):\n    raise ImportError\n', ""),
    "one line": ('def f():\n    if V < parse("2.5"): return\n    return 1\n', "def f():\n    return 1\n"),
    "only statement": ('def f():\n    if V < parse("2.5"):\n        return 1\n', "def f():\n    pass\n"),
    "and": (
        'def f(x):\n    if x and V >= parse("2.5"):\n        return 1\n',
        "def f(x):\n    if x:\n        return 1\n",
    ),
    "or": ('def f(x):\n    return 1 if (x or V >= parse("2.5")) else 2\n', "def f(x):\n    return 1\n"),
    "a call before it stays": ('def f(x):\n    if x() and V < parse("2.5"):\n        return 1\n', None),
    "ternary": ('a = (1 if V >= parse("2.5") else 2) + 1\n', "a = (1) + 1\n"),
    "assert": ('assert V >= parse("2.5")\n', ""),
    "while": ('while V < parse("2.5"):\n    break\n', ""),
    "flag stays, its use goes": ('F = V >= parse("2.5")\nif F:\n    a = 1\n', 'F = V >= parse("2.5")\na = 1\n'),
    "live": ('if V >= parse("2.12"):\n    a = 1\n', None),
    "beyond the maximum": ('if V >= parse("2.16"):\n    a = 1\n', None),
    "defect": ('if str(torch.__version__) >= "2.2":\n    a = 1\n', None),
    "local builds differ": ('if torch.__version__ != "2.4.0":\n    a = 1\n', None),
    "walrus": ('if (w := parse(torch.__version__)) >= parse("2.5"):\n    a = w\n', None),
    "generator": ('def f():\n    if V >= parse("2.5"):\n        return 1\n    else:\n        yield 2\n', None),
    "reassigned": (
        'F = V >= parse("2.5")\ndef g():\n    global F\n    F = False\nif F:\n    a = 1\n', None),
    "not a name of ours": (
        "def slice_scatter(x):\n    return x\n"
        "@torch.compile\ndef f(x, y):\n    return torch.slice_scatter(x, y)\n",
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_only_what_is_dead_goes(tmp_path: Path, case: str) -> None:
    """Each shape of a dead gate, and all that must stay as it is."""
    before, after = CASES[case]
    assert fixed(tmp_path, before) == (before if after is None else after)


def test_an_upper_bound_of_the_project_makes_later_gates_dead(tmp_path: Path) -> None:
    """A promised maximum lets go of what only later releases need."""
    assert fixed(tmp_path, 'if V >= parse("2.16"):\n    a = 1\n', bounded=True) == ""


def test_an_op_becomes_its_drop_in_where_it_is_compiled(tmp_path: Path) -> None:
    """The call and the import change, outside of compiled code nothing."""
    body = (
        "@torch.compile\ndef f(x, y):\n    return torch.slice_scatter(x, y)\n\n"
        "def g(x, y):\n    return torch.slice_scatter(x, y)\n"
    )
    path = tmp_path / "file.py"
    fixed(tmp_path, body)
    text = path.read_text()
    assert text.count("from compilefix.ops import slice_scatter\n") == 1
    assert "    return slice_scatter(x, y)\n\ndef g(x, y):\n    return torch.slice_scatter(x, y)\n" in text


def test_encoding_and_line_ends_stay(tmp_path: Path) -> None:
    """A latin-1 file with carriage returns keeps both; a file changed meanwhile is left alone."""
    path = tmp_path / "old.py"
    text = '# coding: latin-1\r\nimport torch\r\nif torch.__version__ >= "2.4":\r\n    a = "é"\r\n'
    path.write_bytes(text.encode("latin-1"))
    report = scan([path], minimum=Version("2.6"), maximum=None, records=[])
    (change,), _ = edit.changes(report.findings)
    assert change.after == '# coding: latin-1\r\nimport torch\r\na = "é"\r\n'.encode("latin-1")
    assert "é" in change.diff()
    path.write_bytes(b"other")
    with pytest.raises(OSError, match="has changed"):
        change.write()
