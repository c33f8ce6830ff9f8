"""Results in a notebook: the page of each in a frame of its own, so that neither its styles nor others leak."""

from __future__ import annotations

import html

from compilefix.check import CheckReport
from compilefix.diagnosis.result import Diagnosis
from compilefix.upgrade.difference import UpgradeReport

_FRAME = (
    '<iframe srcdoc="{page}" title="{title}" sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" '
    'style="width: 100%; height: 34rem; border: 1px solid #8888; resize: vertical"></iframe>'
)


def framed(result: object) -> str:
    """Return the page of `result` in a frame; raise `TypeError` for what has none."""
    match result:
        case CheckReport():
            from compilefix.report.check.html import render as check

            title, page = "check", check(result, framed=True)
        case Diagnosis():
            from compilefix.report.diagnosis.html import render as diagnosis

            title, page = "diagnosis", diagnosis(result, framed=True)
        case UpgradeReport():
            from compilefix.report.upgrade.html import render as upgrade

            title, page = "upgrade", upgrade(result, framed=True)
        case _:
            raise TypeError(f"a {type(result).__name__} has no page")
    return _FRAME.format(page=html.escape(page), title=f"compilefix: {title}")
