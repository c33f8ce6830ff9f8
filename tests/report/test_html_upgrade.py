"""The page of an upgrade as text: every record that is told of, the user's lines, links, escapes."""

from __future__ import annotations

import re
from dataclasses import replace

from compilefix.report import upgrade as report
from compilefix.upgrade.difference import Change, UpgradeReport
from tests.report.test_document import UPGRADE
from tests.report.test_html import Balanced


def test_every_record_that_is_told_of_has_its_place(upgrade_report: UpgradeReport) -> None:
    """Under the heading of its change, with a link upstream; what neither release has is counted only."""
    page = report.render("html", upgrade_report)
    parsed = Balanced(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    told = {row.id for row in upgrade_report.rows if row.change is not Change.CLEAR}
    assert told <= set(parsed.ids)
    assert not {row.id for row in upgrade_report.of(Change.CLEAR)} & set(parsed.ids)
    order = [page.index(f'<details class="group" id="{change.value}"') for change in CHANGES]
    assert order == sorted(order)
    for row in upgrade_report.of(Change.APPEARS):
        at = page.index(f'id="{row.id}"')
        assert page.index('id="appears"') < at < page.index('id="disappears"')
        if row.id.startswith("gh"):
            assert f"https://github.com/pytorch/pytorch/issues/{row.id[2:]}" in parsed.links


CHANGES = (Change.APPEARS, Change.UNTESTED, Change.DISAPPEARS, Change.STAYS)


def test_your_lines_link_to_records_of_the_page_and_back(upgrade_report: UpgradeReport) -> None:
    """File, line, source, what to write instead."""
    page = report.render("html", upgrade_report)
    parsed = Balanced(page)
    assert {line.verdict for line in upgrade_report.lines} >= {"concerned", "dead"}
    for line in upgrade_report.lines:
        assert f"{line.file}:{line.line}" in parsed.ids
        assert line.edit is None or line.edit.split("\n")[0] in " ".join(parsed.text)
    concerned = next(line for line in upgrade_report.lines if line.verdict == "concerned")
    assert f"#{concerned.file}:{concerned.line}" in parsed.links
    assert f"#{concerned.records[0]}" in parsed.links
    inside = [link[1:] for link in parsed.links if link.startswith("#")]
    assert set(inside) <= set(parsed.ids)


def test_what_is_by_the_record_is_told_apart_from_what_was_measured(upgrade_report: UpgradeReport) -> None:
    """In brackets, and in words."""
    page = report.render("html", upgrade_report)
    row = next(r for r in upgrade_report.rows if "record" in r.before.by and r.change is not Change.CLEAR)
    own = page[page.index(f'id="{row.id}"') :]
    own = own[: own.index("</article>")]
    sign = {"bad": "✘", "good": "✔"}[row.before.state]
    assert f">({sign})<" in own
    assert "according to the record" in own


def test_two_findings_on_one_line_have_two_addresses(upgrade_report: UpgradeReport) -> None:
    line = upgrade_report.lines[0]
    parsed = Balanced(report.render("html", replace(upgrade_report, lines=(line, replace(line, kind="gate")))))
    assert {f"{line.file}:{line.line}", f"{line.file}:{line.line}:2"} <= set(parsed.ids)


def test_nothing_changes_is_said() -> None:
    page = report.render("html", UpgradeReport(before="2.9.0", after="2.9.1", rows=()))
    assert "Nothing that is known changes or stays" in page


def test_text_of_programs_cannot_become_markup() -> None:
    bad = replace(UPGRADE, lines=tuple(replace(o, text="</code><script>alert(1)</script>") for o in UPGRADE.lines))
    page = report.render("html", bad)
    assert "<script>alert" not in page
    assert not re.search("[\x00\x08\x1b\x7f\u202e\ud800]", page)
    Balanced(page)
    assert "Could not be read" in page


def test_the_page_of_all_records_stays_below_a_megabyte(upgrade_report: UpgradeReport) -> None:
    assert len(report.render("html", upgrade_report).encode("utf-8")) < 1_000_000
