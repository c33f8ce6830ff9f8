"""
index_copy accepts a source whose rows have the wrong length.

Why: the decomposition into index_put broadcasts the source instead of checking its shape as the operator does.
What to do: upgrade; raises as it should in 2.13.0. On an affected release compare the shapes before the call.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.MISSING_ERROR,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/aten.index_copy",
    devices=("cpu", "cuda"),
    ops=("index_copy",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.11.0", fixed="2.13.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/144183",
        "https://github.com/pytorch/pytorch/issues/197554",
    ),
    related=("gh121135", "gh197554"),
)

Copies = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(2, 3, device=device), torch.tensor([0], device=device), torch.ones(1, 1, device=device)


def program(rows: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.index_copy(rows, 0, index, source)


def drive_workaround(f: Copies, rows: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    if source.shape[1:] != rows.shape[1:]:
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes.")
    return f(rows, index, source)
