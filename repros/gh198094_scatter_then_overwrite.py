"""
A functional scatter result changes when its input is overwritten afterwards.

Why: the reinplacing pass sees that the graph ends in a write into the input and lets select_scatter or slice_scatter
work directly in that buffer. It does not ask whether the last write is this scatter's result; a later fill_ wins.
What to do: build the result without a scatter (torch.where with a mask, torch.cat of the pieces). A .clone() inside
the compiled function does not help.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="post_grad_passes/reinplace_inplaceable_ops",
    devices=("cpu", "cuda"),
    ops=("select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter"),
    affected=(Affected(first_seen="2.6.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/198094",
        "https://github.com/pytorch/pytorch/pull/198096",
    ),
    related=("gh145189", "gh195451", "gh197829"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.arange(10.0, device=device).reshape(5, 2), torch.tensor([70.0, 80.0], device=device)


def program(buffer: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    edited = torch.select_scatter(buffer, row, dim=0, index=3)
    buffer.zero_()
    return edited


def workaround(buffer: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    chosen = torch.arange(buffer.shape[0], device=buffer.device) == 3
    edited = torch.where(chosen[:, None], row, buffer)
    buffer.zero_()
    return edited
