"""The Q-values of the actions that were taken."""

from __future__ import annotations

import torch

from compilefix.recipes import _arguments


def select_actions(q_values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """
    Return of `q_values` ``[..., A]`` the ones that `actions` ``[...]`` names: ``[B, A]`` and ``[B]`` give ``[B]``.

    Any number of leading dimensions, such as ``[B, T, A]`` and ``[B, T]``. `actions` has an integer dtype; the result
    has dtype and device of `q_values`, and gradients flow to the chosen values alone. (``q_values[:, actions]``, the
    usual slip, is ``[B, B]``: every action of the batch for every row.)

    Raises `TypeError` where an argument is no tensor or `actions` has no integer dtype, `ValueError` for shapes or
    devices that do not fit. Actions outside 0 to A - 1 are an error of torch's own.
    """
    _arguments.tensor("q_values", q_values)
    chosen = _arguments.integers("actions", actions)
    _arguments.same_device(q_values=q_values, actions=chosen)
    if q_values.ndim == 0 or chosen.shape != q_values.shape[:-1]:
        raise ValueError(
            f"actions has shape {tuple(chosen.shape)} and q_values {tuple(q_values.shape)}: "
            "q_values must have one more dimension, the last, over all actions"
        )
    return q_values.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
