"""Findings of one file beyond its gates: links, calls, suppression, and files that are no sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from compilefix.errors import UsageError
from compilefix.registry import Record, read
from compilefix.scan import Finding, scan
from compilefix.scan.supported import supported

RECORD = '''"""
Rolling goes wrong.

Why: because.
What to do: nothing.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    ops=("roll", "sum"),
    affected=(Affected(introduced="2.6", fixed="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/999999", "https://github.com/some/other/pull/7"),
)


def inputs(device):
    return (torch.ones(3),)


def program(x):
    return torch.roll(x, 1).sum()
'''


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Return a record of an issue in 2.6 to 2.9.0."""
    path = tmp_path / "gh999999_roll.py"
    path.write_text(RECORD, encoding="utf-8")
    return read(path)


def look(tmp_path: Path, text: str, record: Record | None = None, least: str = "2.8", **more: object) -> list[Finding]:
    """Scan one file for torch from `least` on."""
    path = tmp_path / "looked_at.py"
    path.write_text(text, encoding="utf-8")
    records = [record] if record else []
    report = scan([path], minimum=Version(least), maximum=Version("2.14.1"), records=records, **more)  # type: ignore[arg-type]
    assert report.broken == ()
    return list(report.findings)


@pytest.mark.parametrize(
    ("least", "rule", "says"), [("2.11", "CF301", "fixed in 2.9.1; your minimum is 2.11"), ("2.8", "CF300", "still")]
)
@pytest.mark.parametrize(
    "link",
    ["https://github.com/pytorch/pytorch/issues/999999", "pytorch/pytorch#999999", "github.com/some/other/pull/7"],
)
def test_links_are_joined_with_the_records(
    tmp_path: Path, record: Record, least: str, rule: str, says: str, link: str
) -> None:
    """A workaround for an issue that no supported torch has is dead; others are notes; unknown numbers nothing."""
    (found,) = look(tmp_path, f"import torch  # see {link}\n# github.com/pytorch/pytorch/issues/99999\n", record, least)
    assert (found.rule, found.records, found.line) == (rule, ("gh999999",), 1)
    assert says in found.message


def test_calls_of_affected_ops_say_whether_they_are_compiled(tmp_path: Path, record: Record) -> None:
    """Functions are reported everywhere, methods in compiled code; ops that merely help in a repro are not."""
    text = (
        "import torch\nfrom torch import roll as shifted\n\n@torch.compile\ndef f(x):\n"
        "    return torch.roll(x, 1) + x.roll(2).sum() + shifted(x, 3)\n\n"
        "def g(x):\n    return torch.roll(x, 1) + x.roll(2)\n"
    )
    found = [(f.line, f.op, f.rule, f.inside) for f in look(tmp_path, text, record)]
    assert found == [(6, "roll", "CF401", "yes")] * 3 + [(9, "roll", "CF400", "no")]
    assert look(tmp_path, text, record, least="2.10") == []


def test_common_ops_are_notes_in_compiled_code(tmp_path: Path) -> None:
    """A defect of an op that most programs use takes certain inputs; a method of that name is not even looked for."""
    path = tmp_path / "gh999998_clamp.py"
    text = RECORD.replace('ops=("roll", "sum"),', 'ops=("clamp", "div"),\n    culprit="lowerings/clamp",')
    path.write_text(text.replace("torch.roll(x, 1).sum()", "torch.clamp(x, 1).div(2)"), encoding="utf-8")
    code = (
        "import torch\n\n@torch.compile\ndef f(x):\n    return torch.clamp(x, 1) + x.clamp(1) + x.clamp_(1)\n\n"
        "@torch.compile\ndef g(x):\n    return torch.div(x, 2) + x.div(2)\n"
    )
    found = look(tmp_path, code, read(path))
    assert [(f.line, f.op, f.rule, f.level) for f in found] == [
        (5, "clamp", "CF402", "note"),
        (9, "div", "CF402", "note"),
        (9, "div", "CF402", "note"),
    ]


def test_everyday_code_that_is_compiled_has_no_problem(tmp_path: Path) -> None:
    """With all shipped records and every release: what any model does is at most a note."""
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\nimport torch.nn.functional as F\n\n@torch.compile\ndef step(x, w, b, i):\n"
        "    x = torch.cat([x, torch.ones(2), torch.zeros_like(x)]).to(torch.float32).clone().contiguous()\n"
        "    x = torch.add(x, 1).mul(2).sub_(3).div(4).mul_(5).add_(6).clamp_(0).copy_(x).sum(-1, keepdim=True)\n"
        "    x = torch.div(torch.sum(x), 2) + torch.mul(x, w) + torch.abs(x) + torch.clamp(x, -1, 1).fill_(0)\n"
        "    x = F.pad(F.relu(F.linear(x, w, b)), (1, 1)) + F.layer_norm(x, (4,)) + F.softmax(x, -1)\n"
        "    x[i] = torch.bmm(x, w).view(-1).reshape(2, 2).permute(1, 0).transpose(0, 1).argmax(-1)\n"
        "    x = F.interpolate(F.conv2d(x, w), scale_factor=2) + F.max_pool2d(x, 2) + torch.matmul(x, w)\n"
        "    a, b = x.chunk(2), x.split(2)\n"
        "    return torch.gather(x, 0, i) + torch.index_select(x, 0, i) + torch.where(x > 0, x, -x).max().item()\n"
    )
    report = scan([path], minimum=None, maximum=None)
    assert report.problems == ()
    assert {"clamp", "div", "nn.functional.pad"} <= {f.op for f in report.findings if f.rule == "CF402"}


@pytest.mark.parametrize(
    ("head", "apply", "inside"),
    [
        ("import torch", "torch.compile(f)", "yes"),
        ("import torch as t", "t.compile(f)", "yes"),
        ("from torch import compile as faster", "faster(f)", "yes"),
        ("import torch\nfaster = torch.compile", "faster(f)", "yes"),
        ("import torch._dynamo as dynamo", "dynamo.optimize('eager')(f)", "yes"),
        ("import torch\nimport torch.compiler as c", "c.compile(f)", "yes"),
        ("import re, torch", "re.compile(f)", "no"),
        ("import torch\nfrom re import compile as made", "made(f)", "no"),
        ("import torch", "print(f)", "no"),
    ],
)
def test_however_compile_is_reached(tmp_path: Path, record: Record, head: str, apply: str, inside: str) -> None:
    """By any name; a function that is merely called so, such as that of regular expressions, compiles nothing."""
    code = f"{head}\nimport torch\n\ndef f(x):\n    return torch.roll(x, 1)\n\nresult = {apply}\n"
    assert [f.inside for f in look(tmp_path, code, record)] == [inside]


def test_comments_suppress_findings(tmp_path: Path) -> None:
    """By code, by name of the tool, for a file; a hash in a string is no comment."""
    line = 'A = torch.__version__ >= "2.4"'
    for comment in ("  # noqa", "  # noqa: CF101", "  # noqa: E501, CF101", "  # compilefix: ignore[CF101]"):
        assert look(tmp_path, f"import torch\n{line}{comment}\n") == []
    assert look(tmp_path, f"# compilefix: ignore-file\nimport torch\n{line}\n") == []
    for comment in ("  # noqa: CF102", "  # not noqa-like", '; B = "# noqa"'):
        assert [f.rule for f in look(tmp_path, f"import torch\n{line}{comment}\n")] == ["CF101"]


def test_columns_are_characters(tmp_path: Path) -> None:
    """Columns count characters and not bytes."""
    (found,) = look(tmp_path, 'import torch\nx = "é", torch.__version__ >= "2.4"\n')
    assert (found.column, found.text) == (9, 'torch.__version__ >= "2.4"')


def test_unreadable_files_are_one_line_each(tmp_path: Path) -> None:
    """No file ends the scan of the others, links in circles and files that are no sources included."""
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "gone.py").symlink_to(folder / "nowhere.py")
    (folder / "python2.py").write_text("import torch\nprint torch.__version__ >= 2\n")
    (folder / "latin.py").write_bytes(b"import torch  # caf\xe9\n")
    (folder / "odd.py").write_bytes(b"# -*- coding: klingon -*-\nimport torch\n")
    (folder / "null.py").write_bytes(b"import torch\nx = torch.__version__ >= '2.4'\0\n")
    (folder / "big.py").write_text("import torch\n" + "x = 1\n" * 900_000)
    (folder / "deep.py").write_text(f"import torch\nx = torch.__version__ >= {'(' * 5000}1{')' * 5000}\n")
    (folder / "fine.py").write_bytes(b"# coding: latin-1\nimport torch\nx = torch.__version__ >= '2.4'  # \xe9\n")
    report = scan([folder, folder / "fine.py"], minimum=Version("2.6"), maximum=None, records=[], jobs=2)
    assert [(f.rule, Path(f.file).name) for f in report.findings] == [("CF101", "fine.py")]
    assert report.files == 7
    assert sorted(Path(line.split(":")[0]).name for line in report.broken) == [
        "big.py", "deep.py", "latin.py", "null.py", "odd.py", "python2.py",
    ]  # fmt: skip
    assert all("\n" not in line and "mistake of compilefix" not in line for line in report.broken)
    with pytest.raises(UsageError, match="no such file"):
        scan([tmp_path / "absent"], minimum=None, maximum=None)


def test_without_a_minimum_nothing_old_is_dead(tmp_path: Path) -> None:
    """Where any torch is supported, a gate for 1.13 is alive."""
    path = tmp_path / "any.py"
    path.write_text('import torch\nA = torch.__version__ >= "1.13"\nB = torch.__version__ >= "2.1"\n')
    report = scan([path], minimum=None, maximum=None, records=[])
    assert {f.verdict for f in report.findings} == {"live"}


@pytest.mark.parametrize(
    ("name", "text", "least", "most"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["torch>=2.6,<2.12", "numpy"]\n', "2.6", "2.11.0"),
        ("pyproject.toml", '[project.optional-dependencies]\na = ["torch~=2.9.0"]\n', "2.9.0", "2.9.1"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.5"\n', "2.5", None),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch>=2.7\n    numpy\n", "2.7", None),
        ("setup.py", 'from setuptools import setup\nsetup(install_requires=["torch==2.8.0"])\n', "2.8.0", "2.8.0"),
        ("pyproject.toml", '[project]\ndependencies = ["torchvision>=0.20"]\n', None, None),
    ],
)  # fmt: skip
def test_the_project_says_what_it_supports(
    tmp_path: Path, name: str, text: str, least: str | None, most: str | None
) -> None:
    """Minimum and maximum come from the requirement of torch in the nearest project file."""
    (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    found = supported(tmp_path / "src")
    assert found.minimum == (Version(least) if least else None)
    assert found.maximum == (Version(most) if most else None)
