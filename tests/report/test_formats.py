"""Every format on every canned report, and how formats are found."""

from __future__ import annotations

import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import compilefix
from compilefix.check import CheckReport
from compilefix.errors import UsageError
from compilefix.report import check as formats

PACKAGE = Path(compilefix.__file__).parent


def python(code: str, folder: Path) -> str:
    """Run `code` in a fresh Python that finds packages of `folder` first; return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_formats_are_the_files_of_the_package() -> None:
    """Names come from file names; shared modules are no formats."""
    assert set(formats.FORMATS) == {"html", "json", "junit", "markdown", "table"}


def test_a_new_format_is_one_new_file(tmp_path: Path) -> None:
    """A module dropped into the package is a format."""
    shutil.copytree(PACKAGE, tmp_path / "compilefix", ignore=shutil.ignore_patterns("__pycache__", "_repros"))
    module = "def render(report, *, width, color):\n    return f'{report} {width} {color}!'\n"
    (tmp_path / "compilefix" / "report" / "check" / "shout.py").write_text(module, encoding="utf-8")
    code = "from compilefix.report import check as report; print(report.render('shout', 'hello', width=7))"
    assert python(code, tmp_path) == "hello 7 False!\n"


@pytest.mark.parametrize("name", ["html", "json", "junit", "markdown"])
def test_rich_is_loaded_for_tables_only(name: str) -> None:
    """Naming the formats loads none of them; only the table needs rich, none needs torch."""
    code = (
        "import sys\n"
        "from compilefix.report import check as report\n"
        "assert 'table' in report.FORMATS\n"
        f"assert 'compilefix.report.check.{name}' not in sys.modules\n"
        "from compilefix.check import CheckReport\n"
        "from compilefix.environment import Environment\n"
        "here = Environment(torch='2', torch_git=None, python='3.11', system='Linux', machine='x', isa=None, cxx=None,"
        " triton=None, cuda=None)\n"
        f"report.render('{name}', CheckReport(environment=here, results=()))\n"
        "heavy = ('rich', 'torch', 'compilefix.report.table', 'compilefix.report.check.table')\n"
        "print([m for m in heavy if m in sys.modules])\n"
    )
    assert python(code, PACKAGE.parent) == "[]\n"


def test_an_unknown_format_names_the_known_ones(reports: dict[str, CheckReport]) -> None:
    """The message of a wrong name is enough to correct it."""
    with pytest.raises(UsageError, match="unknown format 'pdf'; one of html, json, junit, markdown, table"):
        formats.render("pdf", reports["none"])


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_report_is_safe_to_print(name: str, report: CheckReport) -> None:
    """Whatever the programs printed: one final newline, no control characters, nothing that cannot be encoded."""
    text = formats.render(name, report)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs")} == {"\n"}
    text.encode("utf-8")


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_record_is_named(name: str, report: CheckReport) -> None:
    """No format leaves out a record."""
    text = formats.render(name, report)
    assert [r.id for r in report.results if r.id not in text] == []
