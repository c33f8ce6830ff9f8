"""
torch.func.grad of a repeated write into a column loses all but the last gradient.

Why: the graph of the derivative writes the same column twice through slices, and Inductor lost one of the two writes;
switching off its passes one by one does not help.
What to do: upgrade; right in 2.9.1. On an affected release add the terms up out of place and write the column once.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cpu", "cuda"),
    ops=("func.grad", "Tensor.__setitem__"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/136662",),
    related=("gh193279",),
)


def loss(x: torch.Tensor) -> torch.Tensor:
    table = torch.zeros_like(x)
    for _ in range(2):
        table[:, 0] += x[:, 2].abs()
    return table.sum()


def loss_out_of_place(x: torch.Tensor) -> torch.Tensor:
    column = torch.zeros_like(x[:, 0])
    for _ in range(2):
        column = column + x[:, 2].abs()
    return column.sum()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([[1.0, 2.0, -3.0], [4.0, 5.0, 6.0]], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(loss)(x)


def workaround(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(loss_out_of_place)(x)
