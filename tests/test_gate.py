"""Gates: a switch is stronger than a measurement, a measurement stronger than the record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compilefix import environment, gate
from compilefix.errors import UsageError
from compilefix.gate import By
from compilefix.issue import Affected, Issue, Symptom

FIXED = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor", affected=(Affected(introduced="2.0", fixed="2.3"),))
OPEN = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor", affected=(Affected(introduced="2.0"),))
UNKNOWN = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor")


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No switches, no measurements, in a cache folder of its own."""
    monkeypatch.delenv(gate.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(gate, "_switches", {})
    gate.forget_here()


def measure(**records: bool) -> None:
    path = gate.probe_path(environment.build())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schema": gate.SCHEMA, "recorded": "2026-01-01", "records": records, "ops": {}}))
    gate.forget_here()


@pytest.mark.parametrize(("known", "on"), [(FIXED, False), (OPEN, True), (UNKNOWN, True)])
def test_the_record_decides_where_nothing_else_does(known: Issue, on: bool) -> None:
    """Unknown counts as affected."""
    decision = gate.decide("gh1", known)
    assert (bool(decision), decision.by) == (on, By.RECORD)


@pytest.mark.parametrize("known", [FIXED, OPEN, UNKNOWN])
@pytest.mark.parametrize("bad", [True, False])
def test_what_was_measured_here_is_stronger_than_the_record(known: Issue, bad: bool) -> None:
    """Version strings lie: a vendor's build may lack a fix, or have it early."""
    measure(gh1=bad)
    decision = gate.decide("gh1", known)
    assert (decision.on, decision.by) == (bad, By.MEASURED)
    assert gate.decide("gh2", known).by is By.RECORD


@pytest.mark.parametrize("measured", [None, True, False])
@pytest.mark.parametrize("known", [FIXED, OPEN])
@pytest.mark.parametrize("switch", ["on", "off"])
def test_a_switch_is_the_strongest(
    monkeypatch: pytest.MonkeyPatch, measured: bool | None, known: Issue, switch: str
) -> None:
    if measured is not None:
        measure(gh1=measured)
    monkeypatch.setenv(gate.VARIABLE, f" gh2=on, gh1 = {switch} ,")
    decision = gate.decide("gh1", known)
    assert (decision.on, decision.by) == (switch == "on", By.FORCED)
    needed = known is OPEN if measured is None else measured
    assert bool(decision.stale) == (switch == "on" and not needed)


def test_a_stale_switch_names_the_release_that_fixed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gate.VARIABLE, "gh1=on")
    assert "fixed in 2.3" in (gate.decide("gh1", FIXED).stale or "")
    assert gate.stale("gh1", OPEN) is None
    assert "fixed in 2.3" in (gate.stale("gh1", FIXED) or "")


def test_a_switch_in_code_is_stronger_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gate.VARIABLE, "gh1=on")
    gate.force("gh1", "off")
    assert not gate.decide("gh1", OPEN)
    gate.force("gh1", None)
    assert gate.decide("gh1", OPEN)


@pytest.mark.parametrize("text", ["gh1", "gh1=", "=on", "gh1=perhaps"])
def test_a_malformed_switch_is_one_line_that_says_what_would_be_right(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(gate.VARIABLE, text)
    with pytest.raises(UsageError, match=r"COMPILEFIX_FORCE.*=on") as raised:
        gate.decide("gh1", OPEN)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"schema": 99}', '{"schema": 1}'])
def test_a_damaged_measurement_is_none(damage: str) -> None:
    measure(gh1=False)
    gate.probe_path(environment.build()).write_text(damage)
    gate.forget_here()
    assert gate.decide("gh1", OPEN).by is By.RECORD


def test_a_measurement_of_another_build_does_not_count() -> None:
    """Another git hash, device, instruction set or compiler is another build."""
    build = environment.build()
    paths = {gate.probe_path(build | {name: "other"}) for name in build}
    assert len(paths | {gate.probe_path(build)}) == len(build) + 1


def test_conditions_of_the_running_process() -> None:
    import torch

    assert gate.when("torch>=2.4", "has torch.compile", "parameter torch.compile.fullgraph")
    assert gate.when(f"torch=={torch.__version__.split('+')[0]}", "setting torch._inductor.config.max_autotune")
    assert not gate.when("torch<2.0")
    assert not gate.when("has torch.no_such_thing")
    assert not gate.when("lacks torch.compile")
    assert not gate.when("setting torch._inductor.config.no_such_setting")
    assert not gate.when("parameter torch.compile.no_such_parameter")
    assert gate.when("parameter torch.add.alpha")  # a built-in without a signature: cannot be told, the safe side
    with pytest.raises(UsageError, match="condition"):
        gate.when("torch is new")


def test_a_range_with_conditions_applies_only_where_they_hold() -> None:
    def record(*where: str) -> Issue:
        return Issue(symptom=Symptom.ERROR, stage="inductor", affected=(Affected(introduced="2.0", where=where),))

    assert gate.decide("gh1", record("python>=3.8", "system!=plan9"))
    assert not gate.decide("gh1", record("python>=3.8", "system==plan9"))
    assert not gate.decide("gh1", record("triton>=99"))
    with pytest.raises(ValueError, match="condition 'python'"):
        record("python")
    assert "where triton>=99" in record("triton>=99").affected_text()
