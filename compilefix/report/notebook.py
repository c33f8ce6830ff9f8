"""Results in a notebook: the page of each in a frame of its own, so that neither its styles nor others leak."""

from __future__ import annotations

import html
from types import ModuleType

from compilefix.check import CheckReport
from compilefix.diagnosis.result import Diagnosis
from compilefix.report import check, diagnosis, formats, upgrade
from compilefix.upgrade.difference import UpgradeReport

_KINDS: dict[type, ModuleType] = {CheckReport: check, Diagnosis: diagnosis, UpgradeReport: upgrade}
_FRAME = (
    '<iframe srcdoc="{page}" title="compilefix: {title}" '
    'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" '
    'style="width: 100%; height: 34rem; border: 1px solid #8888; resize: vertical"></iframe>'
)


def framed(result: object) -> str:
    """
    Return the page of `result` in a frame, without the programs of records, which keeps a notebook small.

    Raises `TypeError` for what has no page.
    """
    kind = _kind(result)
    page = formats.load(kind.FORMATS, "html").render(result, framed=True)
    return _FRAME.format(page=html.escape(page), title=kind.__name__.rpartition(".")[2])


def table(result: object) -> str:
    """Return `result` as on a terminal; raises `TypeError` for what has no such form."""
    text: str = _kind(result).render("table", result)
    return text.rstrip("\n")


def _kind(result: object) -> ModuleType:
    if type(result) not in _KINDS:
        raise TypeError(f"a {type(result).__name__} has no page")
    return _KINDS[type(result)]
