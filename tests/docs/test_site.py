"""The site builds without a warning, and what its tutorials say is what happens."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import compilefix
from compilefix import cli, ops, recipes, registry
from tests.conftest import CACHE, command, environ

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r'^```(?P<kind>python|console)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```$', re.M | re.S)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(tutorial: Path, tmp_path: Path) -> None:
    """Files are written, programs run, and every command ends with exit code 0 or the ones behind it."""
    folder = tmp_path / "work"
    folder.mkdir()
    mine = str(CACHE / "doctor")  # doctor tells of what other programs left behind in the common one
    around = environ(tmp_path / "state", TORCHINDUCTOR_CACHE_DIR=mine)
    ran = 0
    for block in BLOCK.finditer(tutorial.read_text(encoding="utf-8")):
        if block["file"]:
            path = folder / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "python":
            done = subprocess.run(
                [sys.executable, "-c", block["text"]],
                cwd=folder,
                env=around,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            ran += 1
        else:
            for line in block["text"].splitlines():
                if line.startswith("$ mkdir "):
                    (folder / line.removeprefix("$ mkdir ")).mkdir()
                    continue
                assert line.startswith("$ compilefix "), line
                words, _, comment = line.removeprefix("$ compilefix ").partition("  # exit ")
                done = subprocess.run(
                    command(*shlex.split(words)), cwd=folder, env=around, capture_output=True, text=True, check=False
                )
                assert str(done.returncode) in (comment.split(" or ") if comment else ["0"]), done.stdout + done.stderr
                ran += 1
    assert ran > 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once: ``mkdocs build --strict``, and no warning in the log."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "Documentation built" in built.stderr
    assert not re.search(r"WARNING|ERROR", built.stderr), built.stderr
    return folder


def test_every_record_has_its_page(site: Path) -> None:
    """None names a folder of this machine."""
    for record in registry.discover().records:
        text = (site / "records" / record.id / "index.html").read_text(encoding="utf-8")
        assert record.id in text
        assert str(ROOT) not in text
    assert "select_scatter" in (site / "records" / "gh198094" / "index.html").read_text(encoding="utf-8")


def test_the_reference_has_all_that_is_public(site: Path) -> None:
    """Names of the package, drop-in ops, recipes, the testing functions and the plugin's fixture, from docstrings."""
    pages = ("reference", "ops", "recipes")
    anchors = {
        anchor
        for page in pages
        for anchor in re.findall(r'id="(compilefix\.[\w.]+)"', (site / page / "index.html").read_text(encoding="utf-8"))
    }
    last = {anchor.rpartition(".")[2] for anchor in anchors}
    assert {name for name in compilefix.__all__ if name != "__version__"} <= last
    assert {f"compilefix.recipes.{name}.{name}" for name in recipes.__all__} <= anchors
    documented = {anchor.rpartition(".")[2] for anchor in anchors if anchor.startswith("compilefix.ops.op_")}
    assert {name for name in ops.names() if {name, name.removesuffix("_")}.isdisjoint(documented)} == set()
    assert {f"compilefix.ops.{name}" for name in ops.__all__} <= anchors
    assert {
        "compilefix.testing.assert_compiled_matches",
        "compilefix.pytest_plugin.compile_check",
        "compilefix.backend.compilefix",
        "compilefix.issue.Issue",
    } <= anchors


def test_every_command_has_its_help_on_a_page(site: Path) -> None:
    text = (site / "commands" / "index.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in text for name in cli.names())
    assert "exit status:" in text
