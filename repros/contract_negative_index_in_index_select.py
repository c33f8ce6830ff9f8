"""
index_select raises for a negative index; compiled code wraps it.

Why: the kernel raises RuntimeError. The decomposition writes index_select as advanced indexing, which wraps.
What to do: write index % x.shape[dim], or x[:, index] in brackets, which wraps everywhere. Do not rely on the error.
"""

import torch

from compilefix.issue import Affected, Contract, Symptom, Truth

CONTRACT = Contract(
    statement="index_select counts a negative index from the end.",
    truth=Truth.DOES_NOT_HOLD,
    differs=(Affected(first_seen="2.6.0"),),
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/index_select",
    ops=("index_select",),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.index_select.html",
        "https://github.com/pytorch/pytorch/issues/169779",
        "https://github.com/pytorch/pytorch/pull/184987",
    ),
    related=("contract-negative-index-in-brackets", "gh185885", "gh197554"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(6.0, device=device).reshape(2, 3), torch.tensor([-1], device=device)


def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.index_select(x, 1, index)


def claim(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.tensor([[2.0], [5.0]], device=x.device)
