"""The journal keeps what was measured, and only what still counts."""

from __future__ import annotations

from pathlib import Path

from compilefix import registry
from compilefix.issue import Expectation, Symptom
from compilefix.outcome import Did, Outcome, Result, Target, Verdict
from compilefix.runner.journal import Journal, key
from tests.conftest import FIXTURES
from tests.runner.test_schedule import environment


def result(id: str) -> Result:
    """Return a small result."""
    return Result(
        id=id,
        title="T",
        record="issue",
        symptom=Symptom.ERROR,
        verdict=Verdict.CLEAR,
        expected=Expectation.UNKNOWN,
        outcomes={Target("eager"): Outcome(did=Did.OK, seconds=0.1)},
    )


def test_results_come_back_until_the_check_is_complete(tmp_path: Path) -> None:
    """A later check takes over what an interrupted one left, and removes both journals when it completes."""
    first = Journal(tmp_path)
    first.add("k1", result("gh1"))
    first.add("k2", result("gh2"))
    second = Journal(tmp_path)
    assert second.load({"gh1": "k1", "gh2": "k2"}) == {"gh1": result("gh1"), "gh2": result("gh2")}
    second.add("k3", result("gh3"))
    second.complete()
    assert list(tmp_path.iterdir()) == []


def test_a_stale_key_and_a_torn_line_do_not_count(tmp_path: Path) -> None:
    """Results of another repro text, and the line that was being written at the kill, are ignored."""
    first = Journal(tmp_path)
    first.add("old", result("gh1"))
    first.add("k2", result("gh2"))
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text() + '{"key": "k3", "result": {"id": "gh')
    assert list(Journal(tmp_path).load({"gh1": "new", "gh2": "k2", "gh3": "k3"})) == ["gh2"]


def test_the_key_depends_on_all_that_decides_a_result() -> None:
    """Another torch, target or seed is another key."""
    records = registry.discover([FIXTURES], shipped=False)
    healthy, other = records.get("local-healthy"), records.get("local-fixed-early")
    here, targets = environment(), (Target("eager"),)
    keys = {
        key(healthy, here, targets, 0),
        key(other, here, targets, 0),
        key(healthy, environment(torch_git="1" * 40), targets, 0),
        key(healthy, environment(isa="avx512"), targets, 0),
        key(healthy, environment(numpy="2.4.6"), targets, 0),
        key(healthy, here, (Target("inductor"),), 0),
        key(healthy, here, targets, 1),
    }
    assert len(keys) == 7
