"""Workarounds in a scope: what each kind does to compiled code, when it is off, and when it says that it is stale."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import compilefix
from compilefix import gate, workarounds
from compilefix.errors import UsageError
from compilefix.issue import Affected, Issue, Symptom
from compilefix.registry import Record
from compilefix.workarounds import StaleWorkaroundWarning, kind_rewrite, workaround
from compilefix.workarounds.interface import Nothing

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(gate.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(gate, "_switches", {})
    monkeypatch.setattr(workarounds, "_warned", set())
    gate.forget_here()
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def records_of(*ids: str) -> list[Record]:
    from compilefix import registry

    return [registry.discover().get(id) for id in ids]


class Counter:
    """A backend that runs graphs as they are and keeps them."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph.forward

    @property
    def ops(self) -> set[str]:
        return {str(n.target) for g in self.graphs for n in g.graph.nodes if n.op != "placeholder"}


def program(x: Tensor, row: Tensor) -> Tensor:
    edited = torch.select_scatter(x, row, 0, 2)
    x.zero_()
    return edited


def arguments() -> tuple[Tensor, Tensor]:
    return torch.arange(12.0).reshape(4, 3), torch.tensor([7.0, 8.0, 9.0])


WANT = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [7.0, 8.0, 9.0], [9.0, 10.0, 11.0]])


def test_a_rewrite_replaces_the_op_around_and_inside_of_compiled_code() -> None:
    """Four ways to use it; each ends in one graph without the op that is miscompiled."""
    fix = workaround("gh198094")
    assert isinstance(fix, kind_rewrite.Swap)

    def around(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def call(*args: Tensor) -> Tensor:
            with fix:
                return function(*args)

        return call

    def inside(x: Tensor, row: Tensor) -> Tensor:
        with fix:
            return program(x, row)

    ways: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (program, around),
        (program, fix),
        (fix(program), lambda f: f),
        (inside, lambda f: f),
    ]
    for inner, outer in ways:
        torch._dynamo.reset()
        counter = Counter()
        got = outer(torch.compile(inner, backend=counter, fullgraph=True))(*arguments())
        assert torch.equal(got, WANT)
        assert len(counter.graphs) == 1
        assert len(counter.ops) > 4, "select_scatter alone: nothing was replaced"


def test_a_rewrite_reaches_the_method_and_leaves_plain_code_alone() -> None:
    fix = workaround("gh198094")
    counter = Counter()
    compiled = torch.compile(lambda x, row: x.select_scatter(row, 0, 2), backend=counter, fullgraph=True)
    with fix:
        got = compiled(*arguments())
        plain = torch.select_scatter(*arguments(), 0, 2)
    assert torch.equal(got, WANT)
    assert torch.equal(plain, WANT)
    assert "select_scatter" not in "".join(counter.ops - {"output"}) or len(counter.ops) > 2


def test_code_that_was_compiled_before_is_compiled_again_under_it() -> None:
    counter = Counter()
    compiled = torch.compile(program, backend=counter, fullgraph=True)
    compiled(*arguments())
    with workaround("gh198094"):
        compiled(*arguments())
        compiled(*arguments())
    compiled(*arguments())
    assert len(counter.graphs) == 2


def test_a_rewrite_really_cures_inductor() -> None:
    """The record's own defect, in this process; without the workaround this torch shows it."""
    fix = workaround("gh198094")
    torch._dynamo.reset()
    assert torch.equal(torch.compile(fix(program))(*arguments()), WANT)


@pytest.mark.parametrize("kind", ["backend", "island"])
def test_backend_and_island_hold_around_and_as_decorator(kind: str) -> None:
    fix = workaround("gh198094", kind=kind)
    compiled = torch.compile(program)
    with fix:
        assert torch.equal(compiled(*arguments()), WANT)
    for decorated in (fix(program), fix(torch.compile(program)), torch.compile(fix(program))):
        assert torch.equal(decorated(*arguments()), WANT)


def test_settings_are_on_inside_and_back_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._dynamo.config as config

    before = config.specialize_float
    fix = workaround("gh194976", kind="config")
    seen = []
    with fix, fix:
        seen.append(config.specialize_float)
    with pytest.raises(ZeroDivisionError), fix:
        raise ZeroDivisionError
    fix(lambda: seen.append(config.specialize_float))()
    assert seen == [True, True]
    assert config.specialize_float == before


def test_a_setting_that_this_torch_lacks_is_not_offered() -> None:
    known = Issue(symptom=Symptom.ERROR, stage="eager", workaround_config={"torch._inductor.config.no_such_setting": 1})
    record = Record("gh1", Path("x.py"), 1, "t", "", "", known, ("program",))
    assert "config" not in workarounds.offered(record)


def test_kinds_are_offered_from_narrow_to_wide() -> None:
    (record,) = records_of("gh198094")
    assert list(workarounds.offered(record)) == ["rewrite", "backend", "island"]
    (dynamo,) = records_of("gh194976")
    assert next(iter(workarounds.offered(dynamo))) == "config"
    assert "select_scatter" in workarounds.offered(record)["rewrite"]


def test_an_op_that_leaves_the_graph_is_no_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dynamo fails where a function mode breaks the graph, so another kind must serve."""
    (record,) = records_of("gh183763")
    assert "rewrite" in workarounds.offered(record)
    monkeypatch.setenv(gate.VARIABLE, "sinh=disable")
    assert "rewrite" not in workarounds.offered(record)


def test_a_decorated_function_is_compiled_once() -> None:
    """Every call enters the same scope, which Dynamo guards on."""
    counter = Counter()
    compiled = workaround("gh198094")(torch.compile(program, backend=counter, fullgraph=True))
    for _ in range(5):
        compiled(*arguments())
    assert len(counter.graphs) == 1


def test_a_stale_workaround_does_nothing_and_says_so_once() -> None:
    def function() -> None:
        """Nothing."""

    with pytest.warns(StaleWorkaroundWarning, match=r"does not need the workaround of gh152262 \(fixed in 2\.13\.0\)"):
        fix = workaround("gh152262")
    assert isinstance(fix, Nothing)
    assert fix(function) is function
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with workaround("gh152262"):
            pass


def test_a_switch_turns_it_off_without_a_warning_and_on_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gate.VARIABLE, "gh198094=off,gh152262=on")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(workaround("gh198094"), Nothing)
    with pytest.warns(StaleWorkaroundWarning, match="gh152262"):
        assert not isinstance(workaround("gh152262"), Nothing)


@pytest.mark.parametrize(
    ("id", "kind", "message"),
    [
        ("gh1", None, "unknown id 'gh1'"),
        ("gh198094", "prayer", "no kind 'prayer'; one of rewrite, config, backend, island"),
        ("gh198094", "config", "no workaround of kind 'config' here; there is rewrite"),
    ],
)
def test_a_mistake_is_one_line(id: str, kind: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        workaround(id, kind=kind)
    assert "\n" not in str(raised.value)


def test_the_package_hands_out_the_function() -> None:
    assert compilefix.workaround is workaround


def test_an_upgrade_names_the_next_good_release() -> None:
    from compilefix import environment
    from compilefix.workarounds import kind_upgrade

    here = (environment.facts()["torch"] or "").split("+")[0]
    major, minor, *_ = (int(part) for part in here.split("."))
    spans = (Affected(introduced="2.0", fixed="2.1"), Affected(introduced="2.2", fixed=f"{major}.{minor + 1}.0"))
    known = Issue(symptom=Symptom.ERROR, stage="eager", affected=spans)
    record = Record("gh1", Path("x.py"), 1, "t", "", "", known, ("program",))
    assert kind_upgrade.offers(record) == f"torch {major}.{minor + 1}.0"
