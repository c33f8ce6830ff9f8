"""The page in a real browser: filters, search, keyboard, narrow screen, console, accessibility."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compilefix.check import CheckReport
from compilefix.report.check import render

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium and chromedriver here: not measured"),
]

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Start Chromium once for light and once for dark."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ARGUMENTS:
        options.add_argument(argument)
    if request.param == "dark":
        options.add_argument("--blink-settings=preferredColorScheme=0")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_window_size(1280, 900)
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any, reports: dict[str, CheckReport], tmp_path: Path) -> Any:
    """Open the page of the mixed report."""
    path = tmp_path / "page.html"
    path.write_text(render("html", reports["mixed"]), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


def shown(page: Any) -> list[str]:
    found: list[str] = page.execute_script(
        "return [...document.querySelectorAll('.record')].filter(r => r.offsetParent !== null).map(r => r.id)"
    )
    return found


def choose(page: Any, selector: str, value: str) -> None:
    page.execute_script(
        "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input'))",
        selector,
        value,
    )


def test_search_and_filters_keep_what_matches_and_say_how_many(page: Any) -> None:
    assert len(shown(page)) == 10
    choose(page, "[data-filter=verdict]", "reproduces")
    assert shown(page) == ["gh1", "gh8", "gh9"]
    choose(page, "[data-filter=symptom]", "crash")
    assert shown(page) == ["gh9"]
    assert page.find_element("id", "count").text == "1 of 10 records"
    page.find_element("id", "reset").click()
    choose(page, "#search", "title of gh7")
    assert shown(page) == ["gh7"]


def test_keys_search_walk_and_open(page: Any) -> None:
    body = page.find_element("tag name", "body")
    body.send_keys("/")
    assert page.switch_to.active_element.get_attribute("id") == "search"
    page.switch_to.active_element.send_keys("gh", "\ue00c")  # Escape
    assert len(shown(page)) == 10
    page.execute_script("document.querySelector('#gh1 summary').focus()")
    page.switch_to.active_element.send_keys("j")
    assert page.execute_script("return document.activeElement.closest('.record').id") == "gh2"
    page.switch_to.active_element.send_keys("\ue007")  # Enter
    page.execute_async_script("setTimeout(arguments[0], 200)")
    assert page.execute_script("return document.querySelector('#gh2 details').open")
    assert page.current_url.endswith("#gh2")


def test_a_link_opens_its_record_even_where_a_filter_hides_it(page: Any) -> None:
    choose(page, "[data-filter=verdict]", "clear")
    page.execute_script("location.hash = '#gh3'")
    page.execute_async_script("setTimeout(arguments[0], 100)")
    assert page.execute_script("return document.querySelector('#gh3 details').open")
    assert "gh3" in shown(page)


def test_a_narrow_screen_needs_no_sideways_scrolling(page: Any) -> None:
    try:
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 700, "deviceScaleFactor": 1, "mobile": True}
        )
        page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_columns_can_be_releases(page: Any) -> None:
    choose(page, "#columns", "releases")
    assert page.execute_script("return getComputedStyle(document.querySelector('.of-target')).display") == "none"


def test_the_console_stays_silent(page: Any) -> None:
    assert page.get_log("browser") == []


def test_axe_finds_nothing(page: Any) -> None:
    axe = pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")
    page.execute_script(script)
    found = page.execute_async_script("axe.run().then(arguments[0])")
    told = [(v["id"], [n["html"][:120] for n in v["nodes"][:2]]) for v in found["violations"]]
    assert told == []
    assert any(rule["id"] == "color-contrast" for rule in found["passes"])
