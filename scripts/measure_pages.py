"""
Measure the pages of `check`, `diagnose` and `upgrade` in a real headless Chromium.

For each page: its size; the time until it is ready (median of several loads: all parsed and run), and until a word that
is typed into the search has been applied and painted; what it fetches; how many pixels it is too wide; and what
axe-core finds with everything unfolded: all entries on a wide light screen, the first thirty on a wide dark one and on
two narrow ones. Without ``--check`` and ``--diagnosis``, JSON reports of earlier runs, both are run now; the whole
registry takes minutes. ``--screenshots DIR`` keeps pictures.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import axe_core_python
from selenium import webdriver

from compilefix.calls import compare_releases
from compilefix.check import CheckReport
from compilefix.diagnosis.result import Diagnosis
from compilefix.report import check, diagnosis, upgrade

ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
SCREENS = {"wide": (1280, 900), "narrow": (390, 844)}
LOADS = 5
TALLEST = 2400
AT_ONCE = 30
"""Entries that axe-core looks at at a time: on a page of all of them it needs minutes."""

UNFOLD = "document.querySelectorAll('details').forEach(d => { d.open = true })"
ONLY = """
const records = [...document.querySelectorAll('.record')];
records.forEach((one, i) => { if (i < arguments[0] || i >= arguments[1]) one.remove(); });
"""
ANSWER = """
const done = arguments[0], start = performance.now(), search = document.getElementById('search');
if (!search) { done(0); return; }
search.value = 'scatter'; search.dispatchEvent(new Event('input'));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path, metavar="FILE", help="report of `compilefix check --format json`")
    parser.add_argument("--diagnosis", type=Path, metavar="FILE", help="report of `compilefix diagnose --format json`")
    parser.add_argument("--upgrade", nargs=2, default=("2.9.1", "2.14.1"), metavar="RELEASE", help="from and to")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="keep a picture of each page on each screen")
    args = parser.parse_args()
    checked = CheckReport.from_json(read(args.check, "check"))
    found = Diagnosis.from_json(read(args.diagnosis, "diagnose", "gh198094", "--artifacts", tempfile.mkdtemp()))
    changed = compare_releases(*args.upgrade, Path(__file__).parents[1] / "tests" / "scan")
    pages = {
        "check": (check.render("html", checked), f"{len(checked.results)} records"),
        "diagnose": (diagnosis.render("html", found), f"{len(found.steps)} probes"),
        "upgrade": (upgrade.render("html", changed), f"{len(changed.rows)} records, {len(changed.lines)} lines"),
    }
    print(f"{'page':10} {'of':24} {'bytes':>9} {'ready':>9} {'search':>9} {'fetched':>8} {'overflow':>9} {'axe':>4}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, of) in pages.items():
            path = Path(folder) / f"{name}.html"
            path.write_text(text, encoding="utf-8")
            ready, search, fetched, wider, violations = measured(path, args.screenshots)
            size = len(text.encode("utf-8"))
            times = f"{ready:6.0f} ms {search:6.0f} ms"
            print(f"{name:10} {of:24} {size:9,d} {times} {fetched:8d} {wider:6d} px {violations:4d}", flush=True)


def read(path: Path | None, *verb: str) -> Any:
    """Return the JSON of a report, of an earlier run or of one now."""
    if path is not None:
        return json.loads(path.read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "compilefix", *verb, "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, check=False).stdout)


def measured(path: Path, screenshots: Path | None) -> tuple[float, float, int, int, int]:
    """Return ms until it is ready, ms of a search, requests beyond the page, pixels too wide, axe's violations."""
    ready, search, fetched, wider, violations = [], [], 0, 0, 0
    for dark in (False, True):
        driver = start(dark)
        try:
            for screen, (width, height) in SCREENS.items():
                metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen == "narrow"}
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
                for _ in range(LOADS if screen == "wide" else 1):
                    driver.get(path.as_uri())
                    ready.append(
                        driver.execute_script(
                            "return performance.timing.loadEventEnd - performance.timing.navigationStart"
                        )
                    )
                    search.append(driver.execute_async_script(ANSWER))
                driver.get(path.as_uri())
                fetched += driver.execute_script("return performance.getEntriesByType('resource').length")
                if screenshots is not None:
                    keep(driver, screenshots / f"{path.stem}-{width}-{'dark' if dark else 'light'}.png", width)
                driver.execute_script(UNFOLD)
                wider += max(0, driver.execute_script("return document.documentElement.scrollWidth") - width)
                number = driver.execute_script("return document.querySelectorAll('.record').length")
                whole = screen == "wide" and not dark
                for begin in range(0, number if whole else 1, AT_ONCE) or (0,):
                    driver.get(path.as_uri())
                    driver.execute_script(ONLY, begin, begin + AT_ONCE)
                    driver.execute_script(UNFOLD)
                    violations += audited(driver)
        finally:
            driver.quit()
    return statistics.median(ready), statistics.median(search), fetched, wider, violations


def start(dark: bool) -> Any:
    """Return a driver of a new Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (*ARGUMENTS, *(["--blink-settings=preferredColorScheme=0"] if dark else [])):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(600)
    return driver


def audited(driver: Any) -> int:
    """Return how many violations axe-core finds; raise where it could not look at the contrast."""
    driver.execute_script((Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = driver.execute_async_script("axe.run().then(arguments[0])")
    assert any(rule["id"] == "color-contrast" for rule in found["passes"])
    for violation in found["violations"]:
        print(f"  {violation['id']}: {[node['html'][:100] for node in violation['nodes'][:3]]}", file=sys.stderr)
    return len(found["violations"])


def keep(driver: Any, path: Path, width: int) -> None:
    """Write a picture of the page, or of its top where it is long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height = min(driver.execute_script("return document.documentElement.scrollHeight"), TALLEST)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    path.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
