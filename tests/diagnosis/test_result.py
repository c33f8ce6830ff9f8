"""The JSON of a diagnosis, and what follows from its parts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from compilefix.cure import Cure, Effect
from compilefix.diagnosis.result import Conclusion, Culprit, Diagnosis, GraphDiff, Likeness, Match, Minimal, Step, Trial
from compilefix.errors import Exit, UsageError
from compilefix.issue import Symptom
from compilefix.outcome import Did, Difference, Outcome, Target
from compilefix.report import diagnosis as report
from tests.machines import machine

HERE = machine(torch_git="abc")
INDUCTOR = Target("inductor")
BAD = Outcome(
    did=Did.MISMATCH,
    reason="values of result",
    differences=(Difference(what="values", leaf="result", got=1.0, want=2.0, worst=1.0, count=1, total=4),),
)


def trial(what: str, width: int, ratio: float, effect: Effect = Effect.CURES) -> Trial:
    cure = Cure(
        id="general", kind="config", what=what, target=INDUCTOR, effect=effect, outcome=Outcome(did=Did.OK), ratio=ratio
    )
    return Trial(cure=cure, code=f"# {what}", width=width)


@pytest.fixture
def diagnosis() -> Diagnosis:
    return Diagnosis(
        subject="model.py:forward",
        conclusion=Conclusion.DEFECT,
        environment=HERE,
        reason=BAD.reason,
        target=INDUCTOR,
        ladder={Target("reference"): Outcome(did=Did.OK), INDUCTOR: BAD},
        culprits=(Culprit(stage="inductor", subsystem="lowerings", op="relu", sites=("relu|1",), place="m.py:3: x"),),
        matches=(Match(id="gh1", title="A | title", likeness=Likeness.SAME, why="same op"),),
        trials=(
            trial("wide", 8, 0.5),
            trial("narrow and dear", 1, 3.0),
            trial("narrow and cheap", 3, 1.1),
            trial("useless", 1, 1.0, Effect.DOES_NOT_CURE),
        ),
        minimal=Minimal(source="import torch\n", good=None, nodes=1, nodes_before=9, elements=1, elements_before=64),
        diffs=(GraphDiff(name="001_a_pass", text="--- a\n+++ b\n-x\n+y", left_out=2),),
        steps=(Step(phase="localise", what="nothing is lowered", did=Did.OK, seconds=1.0, suspects=4),),
        phases={"localise": 1.0},
    )


def test_json_goes_back_and_forth(diagnosis: Diagnosis) -> None:
    raw = json.loads(json.dumps(diagnosis.to_json()))
    assert Diagnosis.from_json(raw) == diagnosis


def test_a_diagnosis_of_before_there_were_diffs_is_read(diagnosis: Diagnosis) -> None:
    """The schema has not changed: what was added is optional."""
    raw = json.loads(json.dumps(diagnosis.to_json()))
    for added in ("diffs", "no_diff"):
        del raw[added]
    del raw["steps"][0]["suspects"]
    old = Diagnosis.from_json(raw)
    assert (old.diffs, old.no_diff, old.steps[0].suspects) == ((), None, None)
    assert replace(old, diffs=diagnosis.diffs, steps=diagnosis.steps) == diagnosis


@pytest.mark.parametrize("raw", [{}, [], {"schema": 1, "kind": "diagnosis"}, {"schema": 2, "kind": "diagnosis"}])
def test_another_file_is_refused(raw: object) -> None:
    with pytest.raises(UsageError):
        Diagnosis.from_json(raw)  # type: ignore[arg-type]


def test_the_cheapest_of_the_narrow_cures_is_recommended(diagnosis: Diagnosis) -> None:
    assert [t.cure.what for t in diagnosis.cures] == ["narrow and cheap", "narrow and dear", "wide"]
    assert diagnosis.recommended is not None
    assert diagnosis.symptom is Symptom.WRONG_RESULT


@pytest.mark.parametrize(
    ("conclusion", "code"),
    [
        (Conclusion.HEALTHY, Exit.EXPECTED),
        (Conclusion.DEFECT, Exit.FINDINGS),
        (Conclusion.FAILS_PLAINLY, Exit.HARNESS),
        (Conclusion.NOT_DETERMINISTIC, Exit.INCONCLUSIVE),
    ],
)
def test_exit_codes(conclusion: Conclusion, code: Exit, diagnosis: Diagnosis) -> None:
    assert replace(diagnosis, conclusion=conclusion).exit_code is code
    assert replace(diagnosis, conclusion=conclusion, interrupted=True).exit_code is Exit.INTERRUPTED


def test_the_table_is_about_ten_lines(diagnosis: Diagnosis) -> None:
    text = report.render("table", diagnosis, width=160)
    assert 8 <= len(text.splitlines()) <= 14
    for words in ("inductor/lowerings/relu", "this is gh1", "narrow and cheap", "1 of 9 operations", "m.py:3: x"):
        assert words in text


def test_markdown_is_an_issue(diagnosis: Diagnosis) -> None:
    text = report.render("markdown", diagnosis)
    for words in (
        "# torch.compile: wrong-result",
        "## Program",
        "## Expected and actual",
        "## Environment",
        r"A \| title",
    ):
        assert words in text
