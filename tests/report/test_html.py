"""The page as text: self-contained, escaped, complete."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from compilefix.check import CheckReport
from compilefix.outcome import Difference, Target
from compilefix.report import html
from compilefix.report.check import render

VOID = {"meta", "link", "input", "br", "img", "rect", "path"}


class Balanced(HTMLParser):
    """Collects ids, links and what is read out, and fails where an element is closed that is not open."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.text += [named["aria-label"] or ""] if "aria-label" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost one."""
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.text.append(data)


def test_every_report_is_one_well_formed_page(report: CheckReport) -> None:
    page = render("html", report)
    parsed = Balanced(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {result.id for result in report.results} <= set(parsed.ids)
    page.encode("utf-8")


def test_nothing_is_loaded_from_elsewhere(report: CheckReport) -> None:
    page = render("html", report)
    assert not re.search(r"<(script|img|iframe|object|embed)[^>]* src=|@import|url\(|<link[^>]*stylesheet", page)
    assert all(link.startswith(("#", "https://github.com/", "data:,", "https://")) for link in Balanced(page).links)


def test_text_of_programs_cannot_become_markup(reports: dict[str, CheckReport]) -> None:
    first = reports["clear"].results[0]
    bad = replace(first, title="</title><script>alert(1)</script>")
    page = render("html", replace(reports["clear"], results=(bad,)))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    hostile = render("html", reports["hostile"])
    assert not re.search("[\x00\x08\x1b\x7f\u202e\ud800]", hostile)


def test_each_target_has_its_sign_and_its_word(reports: dict[str, CheckReport]) -> None:
    text = " ".join(Balanced(render("html", reports["mixed"])).text)
    for word in ("inductor:cpu mismatch", "inductor:cpu hang", "first bad", "fixed-early", "regressed"):
        assert word in text
    assert "gh10_bad.py:3" in text


def test_the_shipped_records_bring_words_program_and_releases(reports: dict[str, CheckReport]) -> None:
    page = render("html", reports["two devices"])
    text = " ".join(Balanced(page).text)
    assert "select_scatter" in text
    assert "What to do" in text
    assert '<span class="k">import</span> torch' in page
    assert "https://github.com/pytorch/pytorch/issues/198094" in page


def test_the_plot_shows_where_and_how_large_against_the_floor() -> None:
    seen = Difference(what="values", leaf="result", profile=(0.0, 1.0, 100.0, 0.0), floor=0.5)
    picture = str(html.plot(seen))
    heights = [float(h) for h in re.findall(r'height="([\d.]+)"/>', picture)]
    assert len(heights) == 2
    assert heights[0] < heights[1] == 58.0
    assert 'class="floor"' in picture
    assert "up to 0.5 from float64" in picture
    assert html.plot(Difference(what="alias", leaf="result")) is None
    assert html.plot(Difference(what="values", leaf="result", profile=(0.0,))) is None


def test_a_page_of_many_records_stays_below_a_megabyte() -> None:
    from compilefix import registry
    from compilefix.outcome import Verdict
    from tests.report.conftest import OK, WRONG, check_report, ladder, result

    records = registry.discover().records[:120]
    rows = [result(r.id, Verdict.REPRODUCES, ladder(OK, OK, OK, WRONG), title=r.title) for r in records]
    rows[0] = replace(rows[0], workarounds={Target("inductor"): OK})
    page = render("html", check_report(*rows))
    assert len(page.encode("utf-8")) < 1_000_000, len(page)


def test_what_later_stages_repeat_is_told_once(reports: dict[str, CheckReport]) -> None:
    """The first bad stage has the differences, those behind it refer to it."""
    page = render("html", replace(reports["mixed"], results=reports["mixed"].results[2:3]))
    assert page.count("4 of 10 elements differ") == 1
    assert page.count("as aot_eager:cpu") == 2
