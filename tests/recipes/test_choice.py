"""Q-values of actions and values of the best scores, against loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from compilefix.recipes import select_actions, topk_gather

Q = torch.arange(24.0).reshape(2, 4, 3).sin()


def naive_actions(q_values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Pick batch entry by batch entry and step by step."""
    return torch.stack(
        [torch.stack([q[a] for q, a in zip(*row, strict=True)]) for row in zip(q_values, actions, strict=True)]
    )


def naive_best(scores: torch.Tensor, values: torch.Tensor, k: int) -> torch.Tensor:
    """Pick row by row with Python's own sort."""
    orders = [sorted(range(len(row)), key=lambda i, row=row: -row[i])[:k] for row in scores.tolist()]
    return torch.stack([torch.stack([v[i] for i in order]) for v, order in zip(values, orders, strict=True)])


def test_actions_by_hand() -> None:
    """One value a row, for [B, A] with [B] and for one state alone."""
    q = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert select_actions(q, torch.tensor([2, 0])).tolist() == [3.0, 4.0]
    assert select_actions(q[0], torch.tensor(1, dtype=torch.int32)).item() == 2.0
    assert select_actions(q[:0], torch.tensor([], dtype=torch.long)).shape == (0,)


def test_actions_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """[B, T, A] with [B, T]; the gradient is at the chosen actions alone."""
    holds(select_actions, naive_actions, Q.clone().requires_grad_(), torch.tensor([[0, 1, 2, 2], [1, 1, 0, 2]]))


def test_best_by_hand() -> None:
    """Best first, along any dimension, with trailing dimensions of the values, and the smallest."""
    scores = torch.tensor([[0.1, 0.9, 0.5]])
    boxes = torch.tensor([[[1, 1], [2, 2], [3, 3]]])
    assert topk_gather(scores, boxes, 2).tolist() == [[[2, 2], [3, 3]]]
    assert topk_gather(scores, boxes, 1, largest=False).tolist() == [[[1, 1]]]
    assert topk_gather(scores.T, boxes[0, :, :1], 2, dim=0).tolist() == [[2], [3]]
    assert topk_gather(scores, scores, 0).shape == (1, 0)


def test_best_compiled_with_gradients(holds: Callable[..., None]) -> None:
    """Gradients go to the values that were picked."""
    scores, values = Q.reshape(4, 6).cos(), torch.arange(48.0).reshape(4, 6, 2).requires_grad_()
    holds(lambda s, v: topk_gather(s, v, 3), lambda s, v: naive_best(s, v, 3), scores, values)


def test_scores_get_no_gradient() -> None:
    """A choice is not differentiable; scores that require gradients do no harm."""
    scores = torch.tensor([3.0, 1.0]).requires_grad_()
    assert not topk_gather(scores, torch.ones(2), 1).requires_grad


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: select_actions([1.0], torch.ones(1).long()), TypeError, "q_values must be a tensor, not list"),
        (lambda: select_actions(Q[0], torch.ones(4)), TypeError, "actions must have an integer dtype, not torch.flo"),
        (lambda: select_actions(Q[0], torch.ones(3).long()), ValueError, r"shape \(3,\) and q_values \(4, 3\)"),
        (lambda: select_actions(Q[0, 0, 0], torch.tensor(0)), ValueError, r"shape \(\) and q_values \(\)"),
        (lambda: topk_gather(Q, Q[0], 1), ValueError, r"\(4, 3\), which does not begin with .* \(2, 4, 3\)"),
        (lambda: topk_gather(Q, Q, 4), ValueError, "k=4 is more than the 3 scores along dim=2"),
        (lambda: topk_gather(Q, Q, -1), ValueError, "k=-1 must be at least 0"),
        (lambda: topk_gather(Q, Q, 1.0), TypeError, "k must be an int, not float"),
        (lambda: topk_gather(Q, Q, 1, dim=3), ValueError, "dim=3 does not exist: scores has 3 dimensions"),
        (lambda: topk_gather(Q, Q.to("meta"), 1), ValueError, "values is on meta and scores on cpu"),
    ],
)  # fmt: skip
def test_mistakes(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    """Each names what is wrong with its number."""
    with pytest.raises(error, match=message):
        call()
