"""A captured value as an expression: whole, in part, written out, rounded."""

from __future__ import annotations

from dataclasses import replace

from compilefix.diagnosis.program import Input

ROWS = [[0.123, float("nan"), 2.0], [3.0, 4.0, 5.678]]
TOLD = {"type": "Tensor", "shape": [2, 3], "dtype": "torch.float32", "grad": True, "plain": True, "data": ROWS}


def test_a_part_of_a_captured_value_is_cut_out_and_written() -> None:
    given = Input.of("x", TOLD)
    last = given.narrowed(3, 2, last=True)
    assert last.shape == (2, 2)
    assert last.text("held") == "held['x'].detach()[0:2, 1:3].clone().requires_grad_(True)"
    assert last.literal == "torch.tensor([[float('nan'), 2.0], [4.0, 5.678]], dtype=torch.float32)"
    again = last.narrowed(2, 1, last=False)  # both dimensions have two elements
    assert again.starts == (0, 1)
    assert replace(again, recipe="literal").text("held").startswith("torch.tensor([[float('nan')]]")


def test_literals_are_rounded_and_have_a_largest_size() -> None:
    given = Input.of("x", TOLD)
    assert replace(given, digits=1).literal == (
        "torch.tensor([[0.1, float('nan'), 2.0], [3.0, 4.0, 5.7]], dtype=torch.float32)"
    )
    many = Input.of("x", TOLD | {"shape": [65], "data": [0.0] * 65})
    assert many.literal is None
    assert "literal" not in many.recipes()
    assert many.narrowed(65, 8, last=False).literal is not None
