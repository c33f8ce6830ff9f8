"""The pages in a real browser: filters, search, keyboard, links, narrow screen, console, accessibility."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compilefix.check import CheckReport
from compilefix.diagnosis.result import Diagnosis
from compilefix.report import check, comparison, diagnosis, upgrade
from compilefix.upgrade.comparison import Status
from compilefix.upgrade.difference import Change, UpgradeReport
from tests.report.browsing import ENTER, ESCAPE, audited, choose, narrow, open_page, shown, start, unfold, wait
from tests.report.test_document import COMPARED

pytestmark = pytest.mark.slow
PAGES = ("check", "diagnosis", "diagnosis of nothing", "upgrade", "comparison")


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Start Chromium once for light and once for dark."""
    driver = start(dark=request.param == "dark")
    yield driver
    driver.quit()


@pytest.fixture
def pages(
    reports: dict[str, CheckReport], diagnoses: dict[str, Diagnosis], upgrade_report: UpgradeReport
) -> dict[str, str]:
    """Return the text of each page."""
    return {
        "check": check.render("html", reports["mixed"]),
        "diagnosis": diagnosis.render("html", diagnoses["known"]),
        "diagnosis of nothing": diagnosis.render("html", diagnoses["healthy"]),
        "upgrade": upgrade.render("html", upgrade_report),
        "comparison": comparison.render(COMPARED, "html"),
    }


@pytest.fixture
def checked(browser: Any, pages: dict[str, str], tmp_path: Path) -> Any:
    """Open the page of a check."""
    return open_page(browser, pages["check"], tmp_path)


@pytest.fixture
def diagnosed(browser: Any, pages: dict[str, str], tmp_path: Path) -> Any:
    """Open the page of a diagnosis."""
    return open_page(browser, pages["diagnosis"], tmp_path)


@pytest.fixture
def upgraded(browser: Any, pages: dict[str, str], tmp_path: Path) -> Any:
    """Open the page of an upgrade."""
    return open_page(browser, pages["upgrade"], tmp_path)


def test_search_and_filters_keep_what_matches_and_say_how_many(checked: Any) -> None:
    assert len(shown(checked)) == 10
    choose(checked, "[data-filter=verdict]", "reproduces")
    assert shown(checked) == ["gh1", "gh8", "gh9"]
    choose(checked, "[data-filter=symptom]", "crash")
    assert shown(checked) == ["gh9"]
    assert checked.find_element("id", "count").text == "1 of 10 records"
    checked.find_element("id", "reset").click()
    choose(checked, "#search", "title of gh7")
    assert shown(checked) == ["gh7"]


def test_keys_search_walk_and_open(checked: Any) -> None:
    checked.find_element("tag name", "body").send_keys("/")
    assert checked.switch_to.active_element.get_attribute("id") == "search"
    checked.switch_to.active_element.send_keys("gh", ESCAPE)
    assert len(shown(checked)) == 10
    checked.execute_script("document.querySelector('#gh1 summary').focus()")
    checked.switch_to.active_element.send_keys("j")
    assert checked.execute_script("return document.activeElement.closest('.record').id") == "gh2"
    checked.switch_to.active_element.send_keys(ENTER)
    wait(checked)
    assert checked.execute_script("return document.querySelector('#gh2 details').open")
    assert checked.current_url.endswith("#gh2")


def test_a_link_opens_its_record_even_where_a_filter_hides_it(checked: Any) -> None:
    choose(checked, "[data-filter=verdict]", "clear")
    checked.execute_script("location.hash = '#gh3'")
    wait(checked)
    assert checked.execute_script("return document.querySelector('#gh3 details').open")
    assert "gh3" in shown(checked)


def test_columns_can_be_releases(checked: Any) -> None:
    choose(checked, "#columns", "releases")
    assert checked.execute_script("return getComputedStyle(document.querySelector('.of-target')).display") == "none"


def test_the_way_to_the_culprit_is_searched_and_filtered(diagnosed: Any, diagnoses: dict[str, Diagnosis]) -> None:
    """The searches are unfolded; the other phases unfold where what is looked for is in them."""
    steps = diagnoses["known"].steps
    numbers = [f"probe-{n}" for n, step in enumerate(steps, 1) if step.phase == "localise"]
    assert shown(diagnosed) == numbers
    choose(diagnosed, "#search", "drop-in select_scatter")
    assert shown(diagnosed) == [f"probe-{n}" for n, s in enumerate(steps, 1) if "drop-in select_scatter" in s.what]
    assert diagnosed.find_element("id", "count").text == f"1 of {len(steps)} probes"
    diagnosed.find_element("id", "reset").click()
    assert shown(diagnosed) == numbers
    choose(diagnosed, "[data-filter=phase]", "minimise")
    choose(diagnosed, "[data-filter=outcome]", "mismatch")
    wanted = [f"probe-{n}" for n, s in enumerate(steps, 1) if (s.phase, s.did.value) == ("minimise", "mismatch")]
    assert shown(diagnosed) == wanted


def test_keys_walk_along_the_probes_that_are_seen(diagnosed: Any) -> None:
    """Those in folded phases are passed over."""
    seen = shown(diagnosed)
    diagnosed.find_element("tag name", "body").send_keys("j")
    diagnosed.switch_to.active_element.send_keys("j")
    assert diagnosed.execute_script("return document.activeElement.closest('.record').id") == seen[1]
    diagnosed.switch_to.active_element.send_keys(ENTER)
    wait(diagnosed)
    assert diagnosed.execute_script(f"return document.querySelector('#{seen[1]} details').open")
    assert diagnosed.current_url.endswith(f"#{seen[1]}")


def test_a_link_to_a_probe_unfolds_its_phase(diagnosed: Any) -> None:
    """And one to a part of the page goes there."""
    diagnosed.execute_script("location.hash = '#probe-1'")
    wait(diagnosed)
    assert "probe-1" in shown(diagnosed)
    diagnosed.find_element("css selector", "nav a[href='#cures']").click()
    wait(diagnosed)
    assert abs(diagnosed.execute_script("return document.getElementById('cures').getBoundingClientRect().top")) < 40


def test_bars_narrow_with_the_suspects(diagnosed: Any) -> None:
    """Of the probes that narrowed the search, each bar is shorter than the one before."""
    widths = diagnosed.execute_script(
        "return [...document.querySelectorAll('.kept .bar span')].map(b => b.getBoundingClientRect().width)"
    )
    assert len(widths) >= 3
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == len(widths)


def test_an_upgrade_is_searched_and_filtered(upgraded: Any, upgrade_report: UpgradeReport) -> None:
    """By change, symptom, device and op; folded parts unfold where what is looked for is in them."""
    of = {change.value: [row.id for row in upgrade_report.rows if row.change is change] for change in Change}
    first = of["disappears"][0]
    assert first not in shown(upgraded)
    choose(upgraded, "#search", first)
    assert first in shown(upgraded)
    upgraded.find_element("id", "reset").click()
    choose(upgraded, "[data-filter=change]", "appears")
    assert set(of["appears"]) <= set(shown(upgraded))
    assert not set(of["stays"]) & set(shown(upgraded))
    choose(upgraded, "[data-filter=symptom]", "error")
    expected = {r.id for r in upgrade_report.rows if (r.change.value, r.symptom) == ("appears", "error")}
    assert {id for id in shown(upgraded) if ":" not in id} == expected
    upgraded.find_element("id", "reset").click()
    rows = [row for row in upgrade_report.rows if row.change is not Change.CLEAR and "cuda" in row.devices]
    op = next(op for row in rows for op in row.ops)
    choose(upgraded, "[data-filter=device]", "cuda")
    choose(upgraded, "[data-filter=op]", op)
    assert {id for id in shown(upgraded) if ":" not in id} == {row.id for row in rows if op in row.ops}


def test_a_line_leads_to_its_record_and_back(upgraded: Any, upgrade_report: UpgradeReport) -> None:
    """The record lies in a part that is folded."""
    line = next(line for line in upgrade_report.lines if line.verdict == "concerned")
    own = f"{line.file}:{line.line}"
    upgraded.execute_script("location.hash = arguments[0]", f"#{own}")
    wait(upgraded)
    upgraded.find_element("css selector", f"[id='{own}'] a[href='#{line.records[0]}']").click()
    wait(upgraded)
    assert upgraded.execute_script(f"return document.querySelector('#{line.records[0]} details').open")
    assert line.records[0] in shown(upgraded)
    upgraded.find_element("css selector", f"#{line.records[0]} a[href='#{own}']").click()
    wait(upgraded)
    assert upgraded.current_url.endswith(f"#{own}")


def test_keys_walk_along_an_upgrade(upgraded: Any) -> None:
    """Slash searches, j goes on, Enter opens."""
    seen = shown(upgraded)
    upgraded.find_element("tag name", "body").send_keys("/")
    assert upgraded.switch_to.active_element.get_attribute("id") == "search"
    upgraded.execute_script("document.activeElement.blur()")
    upgraded.find_element("tag name", "body").send_keys("j")
    assert upgraded.execute_script("return document.activeElement.closest('.record').id") == seen[0]
    upgraded.switch_to.active_element.send_keys(ENTER)
    wait(upgraded)
    assert upgraded.execute_script("return document.activeElement.closest('details').open")


def test_the_page_of_a_command_is_searched(browser: Any, pages: dict[str, str], tmp_path: Path) -> None:
    """Its entries are those of the other formats; a link opens one."""
    page = open_page(browser, pages["comparison"], tmp_path)
    everything = shown(page)
    assert len(everything) > len(Status)
    choose(page, "#search", "2.9.1")
    assert 0 < len(shown(page)) < len(everything)
    page.execute_script("location.hash = arguments[0]", everything[0])
    wait(page)
    assert page.execute_script("return document.getElementById(arguments[0]).firstElementChild.open", everything[0])


@pytest.mark.parametrize("name", PAGES)
def test_a_narrow_screen_needs_no_sideways_scrolling(
    name: str, browser: Any, pages: dict[str, str], tmp_path: Path
) -> None:
    page = open_page(browser, pages[name], tmp_path)
    with narrow(page, 360):
        unfold(page)
        assert page.execute_script("return document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", PAGES)
def test_the_console_stays_silent(name: str, browser: Any, pages: dict[str, str], tmp_path: Path) -> None:
    page = open_page(browser, pages[name], tmp_path)
    page.get_log("browser")
    page.refresh()
    assert page.get_log("browser") == []


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, browser: Any, pages: dict[str, str], tmp_path: Path) -> None:
    """Everything unfolded: contrast, landmarks, names."""
    page = open_page(browser, pages[name], tmp_path)
    unfold(page)
    found = audited(page)
    assert [(v["id"], [n["html"][:120] for n in v["nodes"][:2]]) for v in found["violations"]] == []
    passed = {rule["id"] for rule in found["passes"]}
    assert {"color-contrast", "landmark-one-main", "page-has-heading-one", "region"} <= passed


def test_a_page_works_in_the_frame_of_a_notebook(browser: Any, upgrade_report: UpgradeReport, tmp_path: Path) -> None:
    """It has no address there: links within it must not load the notebook into the frame."""
    outside = (
        f"<!doctype html><html lang='en'><title>notebook</title><main>{upgrade_report._repr_html_()}</main></html>"
    )
    page = open_page(browser, outside, tmp_path)
    page.get_log("browser")
    page.switch_to.frame(0)
    try:
        choose(page, "#search", "gh198280")
        assert shown(page) == ["gh198280"]
        page.execute_script("document.querySelector('#gh198280 summary').focus()")
        page.switch_to.active_element.send_keys(ENTER)
        wait(page)
        page.find_element("css selector", "#gh198280 .detail a[href^='#']").click()
        wait(page)
        assert shown(page) == ["gh198280"]
        assert page.execute_script("return document.body.classList.contains('framed')")
    finally:
        page.switch_to.default_content()
    assert page.get_log("browser") == []
