"""Every default strategy is right in every hostile pattern: as shipped, and for two ops by running."""

from __future__ import annotations

import pytest

from compilefix import ops, runner
from compilefix.ops import selection
from compilefix.outcome import Target
from compilefix.progress import Silent
from compilefix.workarounds import hostile, probe
from tests.conftest import CACHE


@pytest.mark.parametrize("name", ops.names())
def test_the_default_was_measured_right_on_a_release_that_was_measured(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    table = selection.shipped().get(selection.release(), {}).get(name)
    if table is None:
        assert selection.LAST_RESORT in ops.strategies(name) or len(ops.strategies(name)) > 1
        return
    choice = ops.choice(name)
    if choice.decision.on or choice.strategy != "plain":
        assert selection.right(table[choice.strategy]), (choice.strategy, table[choice.strategy])
    else:
        assert selection.right(table["plain"]), table["plain"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), [("slice_scatter", "inductor:cpu"), ("index_copy_", "inductor:cuda-interpreted")]
)
def test_the_default_survives_the_whole_family_here(name: str, target: str) -> None:
    options = runner.Options(targets=(Target.parse(target),), jobs=2, timeout=120.0)
    plan = probe.Plan(names=(name,), options=options, cache=CACHE)
    wrong = probe.hold(name, ops.choice(name).strategy, plan, Silent())
    assert wrong == {target: []}


@pytest.mark.slow
def test_the_popular_advice_is_found_wrong_here() -> None:
    """A family that lets ``slice_scatter(x.clone(), …)`` pass on a release before 2.15.0 would find nothing."""
    plan = probe.Plan(
        names=("slice_scatter",), options=runner.Options(targets=(Target("inductor"),), jobs=2), cache=CACHE
    )
    wrong = probe.hold("slice_scatter", "clone", plan, Silent())["inductor:cpu"]
    measured = selection.shipped()[selection.release()]["slice_scatter"]["clone"]["inductor:cpu"]
    assert sorted(wrong) == sorted(measured)
    assert set(hostile.patterns(ops.spec("slice_scatter"))) > set(wrong) > {"overwritten"}
