"""The site builds without a warning, and what its tutorials say is what happens."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import command, environ

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r'^```(?P<kind>python|console)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```$', re.M | re.S)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(tutorial: Path, tmp_path: Path) -> None:
    """Files are written, programs run, and every command ends with exit code 0 or the ones behind it."""
    folder = tmp_path / "work"
    folder.mkdir()
    around = environ(tmp_path / "state")
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


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """``mkdocs build --strict``; every record has its page, and none names a folder of this machine."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert not re.search(r"WARNING\s+-", built.stderr)
    page = tmp_path / "site" / "records" / "gh198094" / "index.html"
    text = page.read_text(encoding="utf-8")
    assert "select_scatter" in text
    assert str(ROOT) not in text
