"""Reports made of parts: whatever a program printed, each format stays whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest
from rich.cells import cell_len

from compilefix.errors import UsageError
from compilefix.issue import Symptom
from compilefix.report import bisection, comparison, upgrade
from compilefix.upgrade.bisection import BisectReport, Found, Step
from compilefix.upgrade.commands import Run
from compilefix.upgrade.comparison import Comparison, Group, Match, Status
from compilefix.upgrade.difference import Change, Line, Row, Side, UpgradeReport
from compilefix.upgrade.signature import Signature
from tests.report.conftest import HOSTILE
from tests.report.test_html import Balanced

SIDE = Side(state="bad", by="measured", why=HOSTILE)
UPGRADE = UpgradeReport(
    before="2.9.1",
    after="2.14.1",
    rows=tuple(
        Row(
            id=f"gh{n}",
            title=HOSTILE,
            record="issue",
            symptom="error",
            devices=("cpu",),
            ops=("roll",),
            what_to_do=HOSTILE,
            change=change,
            before=SIDE,
            after=SIDE,
        )
        for n, change in enumerate(Change)
    ),
    lines=tuple(
        Line(file="a b.py", line=3, kind="gate", verdict=verdict, text=HOSTILE, message=HOSTILE, edit=HOSTILE)
        for verdict in ("concerned", "dead", "needed", "other branch", "untested")
    ),
    files=1,
    unmeasured=(HOSTILE,),
    broken=(HOSTILE,),
)
RUN = Run(
    release="2.9.1", torch="2.9.1+cu128", torch_git="abc", python="3.11", exit_code=1, invalid=HOSTILE, tail=HOSTILE
)
COMPARED = Comparison(
    command=("pytest", HOSTILE),
    before=RUN,
    after=RUN,
    baseline=HOSTILE,
    groups=tuple(
        Group(
            status=status,
            signatures=(Signature(HOSTILE, HOSTILE, HOSTILE),),
            symptom=Symptom.ERROR,
            tests=tuple(f"t{n}{HOSTILE}" for n in range(20)),
            note=HOSTILE,
            matches=(Match(id="gh1", title=HOSTILE, by="op"),),
        )
        for status in Status
    ),
    warnings=(HOSTILE,),
)
STEPS = tuple(
    Step(release=f"2.{n}.0", found=found, by="run", why=HOSTILE, environment={"torch": HOSTILE}, evidence=HOSTILE)
    for n, found in ((9, Found.GOOD), (10, Found.SKIP), (11, Found.BAD))
)
BISECTED = BisectReport(
    subject=HOSTILE,
    command="compilefix bisect x",
    resume="compilefix bisect --resume x",
    first="2.9.0",
    last="2.11.0",
    steps=STEPS,
    window=("2.9.0", "2.11.0"),
    program=HOSTILE,
    warnings=(HOSTILE,),
)
REPORTS = (
    partial(upgrade.render, report=UPGRADE),
    partial(comparison.render, COMPARED),
    partial(bisection.render, BISECTED),
)


@pytest.mark.parametrize("render", REPORTS, ids=("upgrade", "comparison", "bisection"))
def test_nothing_that_a_program_printed_breaks_a_format(render: Callable[..., str]) -> None:
    """No terminal sequences, no lone surrogates, no line of ours wider than the terminal."""
    for width in (None, 60):
        text = render("table", width=width)
        assert text.endswith("\n")
        assert "\x1b" not in text
        text.encode("utf-8")
        printed = " " * 6  # what a program printed is not folded
        assert all(cell_len(line) <= (width or 100) or line.startswith(printed) for line in text.splitlines())
    markdown = render("markdown")
    assert "\x1b" not in markdown
    assert "<b>" not in "".join(part for i, part in enumerate(markdown.split("```")) if i % 2 == 0).replace("\\<b>", "")
    assert json.loads(render("json"))["schema"] == 1
    page = render("html")
    page.encode("utf-8")
    parsed = Balanced(page)
    assert "\x1b" not in page
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links if link.startswith("#")} <= {*parsed.ids}


def test_the_bisection_names_window_and_what_was_skipped() -> None:
    """In one line, for either direction."""
    assert "last good 2.9.0, first bad 2.11.0; skipped between them: 2.10.0" in bisection.render(BISECTED)


def test_no_window_says_why() -> None:
    """And a broken-off one how to go on."""
    none = BisectReport(
        subject="x", command="c", resume="r --resume", first="2.9.0", last="2.11.0", problem="both ends are bad"
    )
    assert "no window: both ends are bad" in bisection.render(none)
    interrupted = BisectReport(
        subject="x", command="c", resume="r --resume", first="2.9.0", last="2.11.0", interrupted=True
    )
    assert "To continue: r --resume" in bisection.render(interrupted)


def test_a_foreign_file_is_refused() -> None:
    """With a usage error."""
    with pytest.raises(UsageError):
        UpgradeReport.from_json({"schema": 99})
