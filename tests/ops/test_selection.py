"""Which strategy an op takes, and by whose word."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from compilefix import environment, gate, ops
from compilefix.errors import UsageError
from compilefix.gate import By
from compilefix.ops import selection

RELEASE = selection.release()


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(gate.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(gate, "_switches", {})
    gate.forget_here()


def ship(monkeypatch: pytest.MonkeyPatch, **tables: dict[str, dict[str, list[str]]]) -> None:
    """Pretend that these were measured: ``v2_13_0={"clone": {"inductor:cpu": ["overwritten"]}}``."""
    found = {release[1:].replace("_", "."): {"slice_scatter": table} for release, table in tables.items()}
    monkeypatch.setattr(selection, "shipped", lambda: found)


def measure(table: dict[str, dict[str, list[str]]]) -> None:
    path = gate.probe_path(environment.build())
    path.parent.mkdir(parents=True, exist_ok=True)
    records = dict.fromkeys(ops.spec("slice_scatter").records, False)
    raw = {"schema": gate.SCHEMA, "recorded": "2026-01-01", "records": records, "ops": {"slice_scatter": table}}
    path.write_text(json.dumps(raw))
    gate.forget_here()


HERE = "v" + RELEASE.replace(".", "_")
RIGHT = {"inductor:cpu": [], "inductor:cuda-interpreted": []}
WRONG = {"inductor:cpu": ["overwritten"], "inductor:cuda-interpreted": []}
WRONG_ON_CUDA = {"inductor:cpu": [], "inductor:cuda-interpreted": ["shifted"]}


def test_the_cheapest_strategy_that_is_right_on_this_release_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, **{HERE: {"plain": WRONG, "clone": WRONG, "fused-clone": RIGHT, "cat": RIGHT}, "v2_0_0": {}})
    assert ops.choice("slice_scatter").strategy == "fused-clone"


def test_a_strategy_must_be_right_on_every_target(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, **{HERE: {"plain": WRONG, "clone": WRONG, "fused-clone": WRONG_ON_CUDA, "cat": RIGHT}})
    assert ops.choice("slice_scatter").strategy == "cat"


def test_a_release_between_measured_ones_takes_what_was_right_on_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, v1_0_0={"clone": RIGHT, "cat": RIGHT}, v99_0_0={"clone": WRONG, "cat": RIGHT})
    assert ops.choice("slice_scatter").strategy == "cat"
    ship(monkeypatch, v1_0_0={"clone": WRONG}, v99_0_0={"clone": RIGHT})
    assert ops.choice("slice_scatter").strategy == selection.LAST_RESORT


@pytest.mark.parametrize("releases", [("v1_0_0", "v1_1_0"), ("v98_0_0", "v99_0_0"), ()])
def test_a_release_beyond_the_measured_ones_takes_no_chances(
    monkeypatch: pytest.MonkeyPatch, releases: tuple[str, ...]
) -> None:
    ship(monkeypatch, **{release: {"clone": RIGHT} for release in releases})
    assert ops.choice("slice_scatter").strategy == selection.LAST_RESORT


def test_what_was_not_measured_is_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, **{HERE: {"clone": {}, "cat": RIGHT}})
    assert ops.choice("slice_scatter").strategy == "cat"


def test_a_measurement_of_this_build_is_stronger_than_the_shipped_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, **{HERE: {"clone": RIGHT}})
    measure({"plain": WRONG, "clone": WRONG, "where": RIGHT})
    choice = ops.choice("slice_scatter")
    assert (choice.strategy, choice.decision.by) == ("where", By.MEASURED)
    measure({"plain": RIGHT})
    choice = ops.choice("slice_scatter")
    assert (choice.strategy, choice.decision.on, choice.decision.by) == ("plain", False, By.MEASURED)


def test_patterns_that_are_right_do_not_overrule_a_record() -> None:
    """A crash that needs two threads shows in no pattern."""
    path = gate.probe_path(environment.build())
    path.parent.mkdir(parents=True, exist_ok=True)
    table = {"slice_scatter": {"plain": RIGHT}}
    path.write_text(json.dumps({"schema": gate.SCHEMA, "recorded": "x", "records": {"gh195451": True}, "ops": table}))
    gate.forget_here()
    decision = ops.choice("slice_scatter").decision
    assert (decision.on, decision.by) == (True, By.RECORD)


@pytest.mark.parametrize(
    ("switch", "strategy", "on"),
    [("slice_scatter=off", "plain", False), ("slice_scatter=cat", "cat", True), ("gh198094=on", None, True)],
)
def test_a_switch_is_the_strongest(
    monkeypatch: pytest.MonkeyPatch, switch: str, strategy: str | None, on: bool
) -> None:
    monkeypatch.setenv(gate.VARIABLE, switch)
    choice = ops.choice("slice_scatter")
    assert choice.decision.by is By.FORCED
    assert choice.decision.on is on
    assert strategy is None or choice.strategy == strategy


def test_a_switch_that_names_no_strategy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gate.VARIABLE, "slice_scatter=magic")
    with pytest.raises(UsageError, match="slice_scatter=magic is none of on, off, plain, clone"):
        ops.choice("slice_scatter")


def test_a_strategy_taken_by_hand_warns_where_it_was_measured_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, **{HERE: {"clone": WRONG, "cat": RIGHT}})
    with pytest.warns(ops.StrategyWarning, match=rf"clone is wrong on torch {RELEASE}: overwritten"):
        ops.strategy("slice_scatter", "clone")
    with pytest.warns(ops.StrategyWarning, match="was not measured"):
        ops.strategy("slice_scatter", "where")
    assert ops.strategy("slice_scatter", "plain") is torch.slice_scatter
    with pytest.raises(UsageError, match="no strategy 'magic'"):
        ops.strategy("slice_scatter", "magic")


def test_unknown_names_are_attribute_errors_and_every_name_is_listed() -> None:
    with pytest.raises(AttributeError, match="no_such_op"):
        _ = ops.no_such_op
    with pytest.raises(AttributeError, match="slice_scatter_"):
        _ = ops.slice_scatter_
    assert set(ops.names()) <= set(dir(ops))
    for name in ops.names():
        assert callable(getattr(ops, name)), name


HEALTHY = """
import torch
from compilefix import ops
owners = (torch, torch.Tensor, torch.nn.functional)
for name in ops.names():
    own = getattr(ops, name)
    assert any(own is getattr(owner, name, None) for owner in owners), name
print(len(ops.names()))
"""


def test_on_a_healthy_torch_every_op_is_torchs_own() -> None:
    """By identity: no wrapper, no guard, no cost."""
    switches = ",".join(f"{name}=off" for name in ops.names())
    done = subprocess.run(
        [sys.executable, "-c", HEALTHY],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(ops.__file__).parents[2]), gate.VARIABLE: switches},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(ops.names())


def test_every_record_of_an_op_exists_and_every_op_explains_itself() -> None:
    from compilefix import registry

    ids = {r.id for r in registry.discover().records}
    for name in ops.names():
        spec = ops.spec(name)
        assert set(spec.records) <= ids, name
        assert spec.documented.__doc__, name
        assert len(spec.strategies) > 1, name
        assert all(strategy in spec.strategies for strategy in spec.notes), name


def test_an_op_that_was_measured_wrong_has_a_record_that_says_so() -> None:
    """A shipped table with a wrong `plain` and records that all say unaffected would switch the op off."""
    from packaging.version import Version

    from compilefix import registry
    from compilefix.issue import Expectation

    records = registry.discover()
    for version, table in selection.shipped().items():
        for name, strategies in table.items():
            if selection.right(strategies.get("plain", {})) or "plain" not in strategies:
                continue
            known = [records.get(id).known.expectation(Version(version)) for id in ops.spec(name).records]
            assert any(answer is not Expectation.UNAFFECTED for answer in known), (version, name, strategies["plain"])


def test_shipped_tables_name_ops_strategies_and_patterns_that_exist() -> None:
    from compilefix.workarounds import hostile

    for version, table in selection.shipped().items():
        for name, strategies in table.items():
            spec = ops.spec(name)
            assert set(strategies) <= set(spec.strategies), (version, name)
            patterns = {p.removesuffix(" (unresolved)") for w in strategies.values() for ps in w.values() for p in ps}
            assert patterns <= set(hostile.patterns(spec)), (version, name)
