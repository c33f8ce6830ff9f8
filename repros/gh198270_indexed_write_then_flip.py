"""
An indexed write followed by an in-place update that reads other rows gives wrong values.

Why: the write back into the tensor is fused with an update that reads the same tensor in another order, so part of
the rows is read after it was replaced. On CUDA only large tensors show it.
What to do: put torch._dynamo.graph_break() between the two statements; an out-of-place index_copy does not help. Right
again in 2.15.0.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="scheduler/fusion",
    ops=("Tensor.index_copy_", "flip"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/198270",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    table = torch.arange(40.0, device=device).reshape(5, 8)
    return table, torch.tensor([4, 1], device=device), torch.full((2, 8), -50.0, device=device)


def program(table: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    table.index_copy_(0, rows, values)
    table.add_(table.flip(0))
    return table


def workaround(table: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    table.index_copy_(0, rows, values)
    torch._dynamo.graph_break()
    table.add_(table.flip(0))
    return table
