"""Misbehaving programs are made small, and stay wrong in the same way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compilefix import registry
from compilefix.diagnosis.program import Input, sliced

from .conftest import Diagnose

INJECTED = {"torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}
PLANTED = Path(__file__).parent / "planted"
CHAIN = """import torch


def inputs():
    return torch.randn(6, 8, generator=torch.Generator().manual_seed(0)), 3


def program(x, k):
    y = torch.sin(x) @ torch.ones(8, 4)
    y = torch.relu(y - 1) * k
    return torch.cos(y).sum(-1), y
"""
CAPTURED = {
    "lines": [
        {"name": "a", "code": "torch.sin(x)", "needs": ["x"], "op": "sin", "place": None},
        {"name": "b", "code": "torch.relu(a)", "needs": ["a"], "op": "relu", "place": None},
        {"name": "c", "code": "b + a", "needs": ["b", "a"], "op": "add", "place": None},
    ],
    "outputs": ["c"],
    "values": {
        name: {"type": "Tensor", "shape": [4], "dtype": "torch.float32", "grad": False, "plain": True}
        for name in ("x", "a", "b", "c")
    },
}


def test_a_part_of_a_graph_is_a_program() -> None:
    """What it lacks comes in, what others need goes out."""
    lines = CAPTURED["lines"]
    middle = sliced(CAPTURED, [lines[1]])  # type: ignore[index]
    assert [i.name for i in middle.inputs] == ["a"]
    assert middle.outputs == ("b",)
    last = sliced(CAPTURED, [lines[2]])  # type: ignore[index]
    assert [i.name for i in last.inputs] == ["b", "a"]


def test_inputs_are_expressions_that_evaluate_to_what_they_say() -> None:
    import torch

    told = {"type": "Tensor", "shape": [2, 3], "dtype": "torch.int32", "plain": True, "range": [-1, 4], "grad": False}
    given = Input.of("i", told)
    for recipe in given.recipes():
        from dataclasses import replace

        value = eval(replace(given, recipe=recipe).text("saved"), {"torch": torch})
        assert value.shape == (2, 3)
        assert value.dtype is torch.int32
        if recipe == "cycle":
            assert (value.min(), value.max()) == (-1, 4)


@pytest.mark.slow
def test_a_graph_is_reduced_to_the_guilty_operation(diagnose: Diagnose, tmp_path: Path) -> None:
    small = diagnose(CHAIN, config=INJECTED, minimise=True).minimal
    assert small is not None
    assert (small.nodes, small.complete) == (1, True)
    assert small.elements <= 2
    assert small.good is not None
    path = tmp_path / "local_small.py"
    path.write_text(small.source, encoding="utf-8")
    assert registry.read(path).known.ops == ("relu",)


@pytest.mark.slow
def test_what_goes_wrong_in_dynamo_loses_statements(diagnose: Diagnose) -> None:
    text = (PLANTED / "side_effect.py").read_text(encoding="utf-8").replace("return y + 1", "z = y * 2\n    return z")
    small = diagnose(text, minimise=True).minimal
    assert small is not None
    assert small.nodes < small.nodes_before
    assert "seen.append" in small.source
    assert "y * 2" not in small.source
    ast.parse(small.source)
