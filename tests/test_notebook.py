"""In a notebook: results show themselves as pages, and what goes on is seen. With a real kernel where there is one."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from typing import Any

import pytest

from compilefix import notebook
from compilefix.check import CheckReport
from compilefix.notebook import Shown
from compilefix.report.notebook import framed
from tests.conftest import CACHE

RESULTS = """
from compilefix.calls import compare_releases
compare_releases("2.13.0", "2.14.1")
"""
CHECK = """
import compilefix
shown = []
show = compilefix.notebook.Line.show
compilefix.notebook.Line.show = lambda self, *told: (shown.append(told), show(self, *told))[1]
result = compilefix.run_check("gh198094", targets=["inductor:cpu"])
result
"""
DIAGNOSE = """
import torch
told = len(shown)
def forward(x):
    return torch.sin(x) + 1
healthy = compilefix.diagnose(forward, torch.linspace(0, 1, 8))
healthy
"""


def page_of(frame: str) -> str:
    """Return the page inside of a frame."""
    (page,) = re.findall(r'<iframe srcdoc="([^"]*)"', frame)
    return html.unescape(page)


def test_a_script_is_no_notebook() -> None:
    assert not notebook.running()


def test_a_result_is_a_frame_with_its_page(reports: dict[str, CheckReport]) -> None:
    """Escaped, so that nothing of it is outside of the frame; without the programs of records."""
    frame = reports["two devices"]._repr_html_()
    assert frame.count("<") == 2
    page = page_of(frame)
    assert page.startswith("<!doctype html>")
    assert "gh198094" in page
    assert "<h2>Program</h2>" not in page
    assert "compilefix explain gh198094" in page


def test_what_is_no_result_has_no_page() -> None:
    class Other(Shown):
        """Shown, but nobody draws it."""

    with pytest.raises(TypeError, match="a Other has no page"):
        framed(Other())


@pytest.fixture(scope="module")
def reports() -> dict[str, CheckReport]:
    """Return the canned reports."""
    from tests.report.conftest import REPORTS

    return REPORTS


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Run a notebook in a real kernel and return its cells."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    sources = (RESULTS, CHECK, DIAGNOSE, "print(shown[:told][1:], '|', shown[told:])")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "here"}
    folder = tmp_path_factory.mktemp("jupyter")
    kernel = folder / "kernels" / "here"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec | {"language": "python"}), encoding="utf-8")
    kept = {name: os.environ.get(name) for name in ("JUPYTER_PATH", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
    os.environ |= {"JUPYTER_PATH": str(folder), "XDG_CACHE_HOME": str(CACHE), "XDG_STATE_HOME": str(folder)}
    try:
        nbclient.NotebookClient(book, timeout=300, kernel_name="here").execute(cwd=str(folder))
    finally:
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    found: list[Any] = book.cells
    return found


def result(cell: Any) -> dict[str, str]:
    """Return what a cell came to, by media type."""
    (data,) = [dict(output.data) for output in cell.outputs if output.output_type == "execute_result"]
    return data


@pytest.mark.slow
def test_a_kernel_shows_each_result_as_its_page(cells: list[Any]) -> None:
    upgrade, check, diagnosis = (page_of(result(cell)["text/html"]) for cell in cells[:3])
    assert "torch 2.13.0 to 2.14.1" in upgrade
    assert 'id="gh198094"' in check
    assert "forward: healthy" in diagnosis


@pytest.mark.slow
def test_a_viewer_without_scripts_shows_each_result_as_its_table(cells: list[Any]) -> None:
    upgrade, check, diagnosis = (result(cell)["text/plain"] for cell in cells[:3])
    assert "torch 2.13.0 to 2.14.1" in upgrade
    assert "1 record on torch" in check
    assert "forward: healthy" in diagnosis


@pytest.mark.slow
def test_a_kernel_shows_what_goes_on_and_takes_it_away(cells: list[Any]) -> None:
    """The bar counts up to its total; the probes of a diagnosis are named."""
    check, diagnosis = cells[3].outputs[0].text.split(" | ")
    counts = re.findall(r", (\d+), (\d+)\)", check)
    assert counts[-1][0] == counts[-1][1]
    assert int(counts[-1][0]) >= 2
    assert "gh198094 inductor:cpu" in check
    assert "probe 1, baseline: " in diagnosis
    for cell in cells[1:3]:
        (line,) = [output for output in cell.outputs if output.output_type == "display_data"]
        assert line.data["text/html"] == ""
