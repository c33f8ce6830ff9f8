"""
A result keeps its values when the caller overwrites every input later in the same compiled function.

Functional scatters lose them there (gh198094, gh195451), and a .clone() does not help: see repros/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from compilefix import recipes

INDEX = torch.tensor([2, 0, 2, 1])


def vector() -> torch.Tensor:
    """Return fresh floats."""
    return torch.tensor([4.0, 1.0, 3.0, 2.0])


def matrix() -> torch.Tensor:
    """Return fresh floats, four rows."""
    return torch.arange(8.0).reshape(4, 2) + 1


CASES: dict[str, tuple[Callable[..., torch.Tensor], Callable[[], tuple[torch.Tensor, ...]]]] = {
    "pad_sequences": (
        lambda a, b: recipes.pad_sequences([a, b], max_length=4)[0],
        lambda: (vector(), vector()[:2].clone()),
    ),
    "pad_one_sequence": (lambda a: recipes.pad_sequences([a])[0], lambda: (vector(),)),
    "scatter_mean": (lambda s, i: recipes.scatter_mean(s, i, dim_size=4), lambda: (matrix(), INDEX.clone())),
    "weighted_scatter_add": (
        lambda s, i, w: recipes.weighted_scatter_add(s, i, w, dim_size=4),
        lambda: (matrix(), INDEX.clone(), vector()),
    ),
    "select_actions": (recipes.select_actions, lambda: (matrix(), torch.tensor([0, 1, 1, 0]))),
    "topk_gather": (lambda s, v: recipes.topk_gather(s, v, 2, dim=0), lambda: (vector(), matrix())),
    "ring_buffer_update": (recipes.ring_buffer_update, lambda: (matrix(), -matrix()[:2].clone(), torch.tensor(3))),
    "ring_buffer_all_slots": (recipes.ring_buffer_update, lambda: (matrix(), -matrix(), torch.tensor(0))),
    "ring_buffer_no_entries": (recipes.ring_buffer_update, lambda: (matrix(), torch.ones(0, 2), torch.tensor(0))),
    "one_hot_scatter": (lambda i: recipes.one_hot_scatter(i, 3, ignore_index=1), lambda: (INDEX.clone(),)),
    "segment_diff": (recipes.segment_diff, lambda: (vector(), INDEX.clone())),
}


@pytest.mark.parametrize("written_before", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_result_survives_writes_into_the_inputs(compiled: Callable[..., Any], name: str, written_before: bool) -> None:
    """As in plain code: the result first, then -5 everywhere; also of inputs that the function wrote itself."""
    recipe, inputs = CASES[name]

    def prepare(*arguments: torch.Tensor) -> None:
        for argument in arguments:
            if written_before and argument.is_floating_point() and argument.numel() > 0:
                argument.index_fill_(0, torch.tensor([1]), 40.0)

    def writes(*arguments: torch.Tensor) -> torch.Tensor:
        prepare(*arguments)
        result = recipe(*arguments)
        for argument in arguments:
            argument.fill_(-5)
        return result

    prepare(*(arguments := inputs()))
    want = recipe(*arguments)
    arguments = inputs()
    got = compiled(writes)(*arguments)
    torch.testing.assert_close(got, want)
    assert all(bool((argument == -5).all()) for argument in arguments)
    got.fill_(-7)  # the result is nobody's buffer but its own
    assert all(bool((argument == -5).all()) for argument in arguments)


def test_copy_back_into_the_buffer(compiled: Callable[..., Any]) -> None:
    """The new buffer copied into the old one is still another tensor (gh195451)."""

    def writes_back(buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        result = recipes.ring_buffer_update(buffer, new, position)
        buffer.copy_(result)
        return result

    buffer, new = matrix(), -matrix()[:2]
    want = recipes.ring_buffer_update(buffer, new, 3)
    got = compiled(writes_back)(buffer, new, torch.tensor(3))
    torch.testing.assert_close((got, buffer), (want, want))
    got.fill_(-7)
    torch.testing.assert_close(buffer, want)


def test_in_place_update_then_overwritten(compiled: Callable[..., Any]) -> None:
    """In place the result is the buffer: it has the later value, and what was read in between the earlier one."""

    def overwrites(buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = recipes.ring_buffer_update_(buffer, new, position)
        read = result * 1.5
        new.fill_(-5)
        buffer.fill_(-6)
        return result, read

    buffer, new = matrix(), -matrix()[:2]
    want = recipes.ring_buffer_update(buffer, new, 3) * 1.5
    result, read = compiled(overwrites)(buffer, new, torch.tensor(3))
    torch.testing.assert_close(read, want)
    assert result.eq(-6).all()
    assert buffer.eq(-6).all()
    assert result.data_ptr() == buffer.data_ptr()


@pytest.mark.parametrize(
    "snapshot", [lambda buffer: buffer.clone(), lambda buffer: buffer + 0], ids=["clone", "plus zero"]
)
def test_snapshot_after_an_update_in_place(
    compiled: Callable[..., Any], snapshot: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """What is kept of the buffer after the update does not see the next write (gh198094)."""

    def overwrites(buffer: torch.Tensor, new: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        recipes.ring_buffer_update_(buffer, new, position)
        kept = snapshot(buffer)
        buffer.mul_(2)
        return kept

    buffer, new = matrix(), -matrix()[:2]
    want = recipes.ring_buffer_update(buffer, new, 3)
    kept = compiled(overwrites)(buffer, new, torch.tensor(3))
    torch.testing.assert_close((kept, buffer), (want, want * 2))
