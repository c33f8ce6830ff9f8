"""
A cumsum over 129 or more elements of a sum with a broadcast vector does not compile for CUDA.

Why: a long scan is split over blocks and has no axis for its columns; the shape of the load of the broadcast vector,
which depends on the column alone, is looked up at that missing axis.
What to do: scan in pieces of at most 128 and add what came before, or torch 2.13.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    devices=("cuda",),
    ops=("cumsum", "cumprod", "logcumsumexp"),
    affected=(Affected(first_seen="2.11.0", last_seen="2.11.0", fixed="2.13.0"),),
    matches=(r"list indices must be integers or slices, not NoneType",),
    references=(
        "https://github.com/pytorch/pytorch/issues/180221",
        "https://github.com/pytorch/pytorch/pull/180369",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return (torch.arange(130.0 * 4, device=device) % 7).reshape(130, 4), torch.arange(4.0, device=device)


def program(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return (x + bias).cumsum(0)


def workaround(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    y = x + bias
    first = y[:65].cumsum(0)
    return torch.cat([first, y[65:].cumsum(0) + first[-1]])
