"""What a guilty pass changed: where the culprit is a pass, and why there is nothing where it is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.diagnosis.artifacts import MOST, guilty
from compilefix.diagnosis.result import Culprit
from compilefix.outcome import Target

from .conftest import Diagnose

PLANTED = Path(__file__).parent / "planted"
INDUCTOR = Target("inductor")


def kept(folder: Path, name: str, before: str, after: str) -> None:
    """Write down a graph as a run does."""
    graphs = folder / "graphs"
    graphs.mkdir(exist_ok=True)
    (graphs / f"{name}_before.txt").write_text(before, encoding="utf-8")
    (graphs / f"{name}_after.txt").write_text(after, encoding="utf-8")


def test_only_what_the_guilty_passes_changed(tmp_path: Path) -> None:
    """In the order of their turns, at most `MOST` lines each, and how many that leaves out."""
    kept(tmp_path, "001_guilty", "a\nb\n", "a\nc\n")
    kept(tmp_path, "002_other", "c\n", "d\n")
    kept(tmp_path, "003_guilty", "", "\n".join(map(str, range(MOST))))
    culprits = (Culprit(stage="inductor", subsystem="post_grad_passes", op="guilty"),)
    diffs, why = guilty(tmp_path, None, None, INDUCTOR, culprits)  # type: ignore[arg-type]
    assert why is None
    assert [diff.name for diff in diffs] == ["001_guilty", "003_guilty"]
    assert diffs[0].text.splitlines()[-2:] == ["-b", "+c"]
    assert (diffs[0].left_out, diffs[1].left_out) == (0, 3)
    assert len(diffs[1].text.splitlines()) == MOST


@pytest.mark.parametrize(
    ("culprits", "words"),
    [
        ((), "inductor is no pass over graphs"),
        ((Culprit(stage="inductor", subsystem="lowerings", op="relu"),), "inductor/lowerings/relu is no pass"),
        ((Culprit(stage="inductor", subsystem="post_grad_passes", op="unseen"),), "before and after unseen"),
    ],
)
def test_where_there_is_none_it_says_why(culprits: tuple[Culprit, ...], words: str, tmp_path: Path) -> None:
    diffs, why = guilty(tmp_path, None, None, INDUCTOR, culprits)  # type: ignore[arg-type]
    assert diffs == ()
    assert words in (why or "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pre_grad_pass", "joint_pass", "post_grad_pass"])
def test_a_planted_pass_is_seen_at_work(name: str, diagnose: Diagnose) -> None:
    """One more run, where it is asked for."""
    found = diagnose(f"{PLANTED / name}.py:program", diff=True)
    assert (found.no_diff, len(found.diffs)) == (None, 1), found.no_diff
    lines = found.diffs[0].text.splitlines()
    assert any(line.startswith("-") for line in lines[2:])
    assert any(line.startswith("+") for line in lines[2:])
    assert [step.phase for step in found.steps].count("artifacts") == 1


@pytest.mark.slow
def test_nothing_more_is_run_where_nobody_asked(diagnose: Diagnose) -> None:
    found = diagnose(f"{PLANTED / 'post_grad_pass'}.py:program")
    assert (found.diffs, found.no_diff) == ((), "not asked for")
    assert "artifacts" not in {step.phase for step in found.steps}
