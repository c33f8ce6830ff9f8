"""
A RuntimeError of an operator is not caught by the except branch around it.

Why: Dynamo runs the operator on fake tensors; its error was raised as a TorchRuntimeError of the compiler instead of
being handed to the handler in the program.
What to do: upgrade; right in 2.14.1. On an affected release ask for the shapes before the call.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="fake_tensor/exception_in_try",
    devices=("cpu", "cuda"),
    ops=("cat",),
    affected=(Affected(first_seen="2.4.1", last_seen="2.13.0", fixed="2.14.1"),),
    matches=(r"Tensors must have same number of dimensions|Number of dimensions of tensors must match",),
    references=(
        "https://github.com/pytorch/pytorch/issues/148475",
        "https://github.com/pytorch/pytorch/issues/175608",
        "https://github.com/pytorch/pytorch/pull/184990",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.ones(2, 2, device=device), torch.arange(2.0, device=device)


def program(rows: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    try:
        return torch.cat((rows, row))
    except RuntimeError:
        return torch.cat((rows, row[None]))


def workaround(rows: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    return torch.cat((rows, row if row.ndim == rows.ndim else row[None]))
