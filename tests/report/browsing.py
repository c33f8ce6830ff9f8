"""A real headless Chromium, and what one asks of a page in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
ENTER, ESCAPE = "\ue007", "\ue00c"


def start(*, dark: bool) -> Any:
    """Return a driver of a new Chromium; skips the test, saying so, where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not (CHROMIUM and DRIVER):
        pytest.skip("no chromium and chromedriver here: not measured")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, *(["--blink-settings=preferredColorScheme=0"] if dark else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_window_size(1280, 900)
    return driver


def open_page(browser: Any, page: str, folder: Path) -> Any:
    """Open the text of a page from a file."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    browser.get(path.as_uri())
    return browser


def shown(page: Any) -> list[str]:
    """Return the ids of the records that can be seen."""
    found: list[str] = page.execute_script(
        "return [...document.querySelectorAll('.record')].filter(r => r.checkVisibility()).map(r => r.id)"
    )
    return found


def choose(page: Any, selector: str, value: str) -> None:
    """Give an element a value, as a user does."""
    page.execute_script(
        "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input'))",
        selector,
        value,
    )


def wait(page: Any, milliseconds: int = 150) -> None:
    """Let the page react."""
    page.execute_async_script("setTimeout(arguments[1], arguments[0])", milliseconds)


def unfold(page: Any) -> None:
    """Open all that can be opened."""
    page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")


@contextmanager
def narrow(page: Any, width: int) -> Iterator[None]:
    """Give the page a screen of `width` pixels for a while."""
    screen = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def audited(page: Any) -> Any:
    """Return what axe-core says of the page."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    page.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    return page.execute_async_script("axe.run().then(arguments[0])")
