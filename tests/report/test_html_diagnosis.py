"""The page of a diagnosis as text: every outcome of one, all facets, nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from compilefix.cure import Effect
from compilefix.diagnosis.result import Conclusion, Culprit, Diagnosis, GraphDiff, Likeness, Match, Step
from compilefix.outcome import Did
from compilefix.report import diagnosis as report
from compilefix.report.diagnosis._path import phases
from tests.report.conftest import HOSTILE
from tests.report.test_html import Balanced

NAMES = (
    *("known", "lowering", "error", "healthy", "fails"),
    *("not deterministic", "unresolved", "out of time"),
)


def flat(page: str) -> str:
    """Return the text of a page on one line."""
    return " ".join(" ".join(Balanced(page).text).split())


@pytest.mark.parametrize("name", NAMES)
def test_every_outcome_is_one_well_formed_page(name: str, diagnoses: dict[str, Diagnosis]) -> None:
    found = diagnoses[name]
    page = report.render("html", found)
    parsed = Balanced(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert all(link[1:] in parsed.ids for link in parsed.links if link.startswith("#"))
    assert all(link.startswith(("#", "https://github.com/", "data:,")) for link in parsed.links)
    assert not re.search(r"<(script|img|iframe|object|embed)[^>]* src=|@import|url\(|<link[^>]*stylesheet", page)
    assert f"{found.subject}: {found.conclusion.value}" in flat(page)
    assert found.environment.torch in flat(page)


def test_the_fixtures_are_what_they_are_called(diagnoses: dict[str, Diagnosis]) -> None:
    assert set(diagnoses) == set(NAMES)
    conclusions = {name: diagnoses[name].conclusion for name in NAMES}
    assert conclusions["healthy"] is Conclusion.HEALTHY
    assert conclusions["fails"] is Conclusion.FAILS_PLAINLY
    assert conclusions["not deterministic"] is Conclusion.NOT_DETERMINISTIC
    assert conclusions["unresolved"] is Conclusion.UNRESOLVED
    assert diagnoses["out of time"].out_of_time


def test_the_headline_says_all_that_one_needs(diagnoses: dict[str, Diagnosis]) -> None:
    """Symptom, culprit, known issue with its link, workaround with its price, and that it was run."""
    found = diagnoses["known"]
    page = report.render("html", found)
    head = page[page.index('id="verdict"') : page.index('id="stages"')]
    for words in (
        "inductor/post_grad_passes/reinplace_inplaceable_ops",
        "this is gh198094",
        "drop-in select_scatter",
        "x the time",
        "is ok on your own inputs",
    ):
        assert words in head
    assert 'href="https://github.com/pytorch/pytorch/issues/198094"' in head
    place = next(c.place for c in diagnoses["lowering"].culprits)
    assert place is not None
    assert place in flat(report.render("html", diagnoses["lowering"]))


def test_the_first_bad_stage_is_marked_and_its_error_drawn(diagnoses: dict[str, Diagnosis]) -> None:
    page = report.render("html", diagnoses["known"])
    (marked,) = re.findall(r'<li class="first">(.*?)</li>', page, re.DOTALL)
    assert "inductor:cpu" in marked
    assert "first bad" in marked
    assert "<svg" in page[page.index('id="stages"') : page.index('id="path"')]


def test_the_path_narrows_from_all_to_the_culprit(diagnoses: dict[str, Diagnosis]) -> None:
    """Only probes after which fewer suspects were left are marked; the last leaves what was convicted."""
    found = diagnoses["known"]
    localise = next(p for p in phases(found.steps, found.phases) if p.name == "localise")
    assert localise.narrowed == tuple(sorted(set(localise.narrowed), reverse=True))
    assert localise.narrowed[0] > 10
    assert localise.narrowed[-1] == 1
    kept = [probe for probe in localise.probes if probe.kept]
    assert [probe.step.suspects for probe in kept] == list(localise.narrowed)
    assert all(probe.step.did in (Did.OK, Did.NUMERICS) for probe in kept)
    assert "reinplace_inplaceable_ops" in kept[-1].question
    numbers = [probe.number for phase in phases(found.steps, found.phases) for probe in phase.probes]
    assert sorted(numbers) == list(range(1, len(found.steps) + 1))
    page = report.render("html", found)
    assert all(f'id="probe-{n}"' in page for n in numbers)


def test_a_right_result_that_leaves_more_does_not_narrow() -> None:
    """Nor does one outside of a search."""
    steps = [Step(phase="localise", what="t: q", did=did, suspects=n) for did, n in DID_AND_SUSPECTS]
    steps.append(Step(phase="cure", what="t: c", did=Did.OK, suspects=1))
    localise, cure = phases(steps, {})
    assert localise.narrowed == (8, 4, 1)
    assert [probe.kept for probe in localise.probes] == [True, False, True, False, True]
    assert cure.narrowed == ()


DID_AND_SUSPECTS = ((Did.OK, 8), (Did.MISMATCH, 4), (Did.OK, 4), (Did.OK, 6), (Did.NUMERICS, 1))


def test_the_graph_diff_of_the_guilty_pass_is_shown(diagnoses: dict[str, Diagnosis]) -> None:
    found = diagnoses["known"]
    page = report.render("html", found)
    assert found.diffs
    assert 'class="del">-    %select_scatter' in page
    assert 'class="add">+    %copy__default' in page
    assert "reinplace_inplaceable_ops" in found.diffs[0].name


@pytest.mark.parametrize(
    ("name", "words"),
    [("lowering", "inductor/codegen/relu is no pass over graphs"), ("error", "not asked for")],
)
def test_where_there_is_no_graph_diff_it_says_why(name: str, words: str, diagnoses: dict[str, Diagnosis]) -> None:
    assert f"There is no graph diff: {words}" in flat(report.render("html", diagnoses[name]))


def test_the_cures_stand_with_their_prices_the_recommended_first(diagnoses: dict[str, Diagnosis]) -> None:
    found = diagnoses["known"]
    page = report.render("html", found)
    body = page[page.index("<tbody>", page.index('id="cures"')) :]
    rows = re.findall(r"<tr.*?</tr>", body[: body.index("</tbody>")], re.DOTALL)
    assert len(rows) == len(found.trials)
    assert "recommended" in rows[0]
    assert found.recommended is not None
    assert f"{found.recommended.cure.ratio:.2f}x" in rows[0]
    cures = [t.cure.effect is Effect.CURES for t in found.trials]
    assert ["cures" in row and "not cure" not in row for row in rows] == sorted(cures, reverse=True)


def test_the_minimal_program_and_its_neighbour_show_where_they_differ(diagnoses: dict[str, Diagnosis]) -> None:
    page = report.render("html", diagnoses["known"])
    part = page[page.index('id="minimal"') : page.index('id="environment"')]
    assert "Goes wrong" in part
    assert "neighbour that comes out right" in part
    assert "select_scatter" in " ".join(re.findall(r"<mark>(.*?)</mark>", part))
    assert "<mark>" in part[part.index("neighbour that comes out right") :]


def test_what_ended_early_says_so(diagnoses: dict[str, Diagnosis]) -> None:
    assert "time that was set ran out" in flat(report.render("html", diagnoses["out of time"]))
    interrupted = replace(diagnoses["known"], interrupted=True, diffs=(), no_diff=None)
    text = flat(report.render("html", interrupted))
    assert "It was interrupted" in text
    assert "the diagnosis ended before it came to that" in text


def test_a_long_diff_says_what_is_left_out(diagnoses: dict[str, Diagnosis]) -> None:
    long = replace(diagnoses["known"], diffs=(GraphDiff(name="1_x", text="--- a\n+++ b\n-1", left_out=70),))
    assert "70 more lines" in flat(report.render("html", long))


def test_text_of_programs_cannot_become_markup(diagnoses: dict[str, Diagnosis]) -> None:
    """Whatever stands in names, reasons, code and graphs."""
    bad = f"</code></pre><script>alert(1)</script>{HOSTILE}"
    found = diagnoses["known"]
    assert found.minimal is not None
    hostile = replace(
        found,
        subject=bad,
        reason=bad,
        culprits=(Culprit(stage=bad, op=bad, place=bad, how=bad),),
        matches=(Match(id="local-x", title=bad, likeness=Likeness.SIMILAR, why=bad, what_to_do=bad),),
        minimal=replace(found.minimal, source=bad, good=bad),
        diffs=(GraphDiff(name=bad, text=bad),),
        steps=(Step(phase="localise", what=bad, did=Did.OK, reason=bad, suspects=3),),
        trials=tuple(replace(trial, code=bad) for trial in found.trials),
        warnings=(bad,),
    )
    page = report.render("html", hostile)
    assert "<script>alert" not in page
    assert not re.search("[\x00\x08\x1b\x7f\u202e\ud800]", page)
    Balanced(page)
    page.encode("utf-8")
