"""
Gathering from a target of one row right after adding into it reads the row before the additions.

Why: with a single row every index is zero, the scatter and the gather are fused into one kernel, and nothing in it
orders the load behind the atomic additions, which other programs make as well. The C++ path is wrong too: measured on
2.6.0 and 2.9.1 over twelve shapes and ways to gather, with no exception.
What to do: give the target a second row and drop it afterwards, or a release that does not fuse them (2.13 is right).
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cpu", "cuda"),
    ops=("scatter_add", "index_select"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/191571",),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(1.0, 31.0, device=device).reshape(10, 3), torch.zeros(10, dtype=torch.int64, device=device)


def program(x: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    sums = x.new_zeros(1, 3).scatter_add(0, group[:, None].expand(10, 3), x)
    return sums[group] * 1.5


def workaround(x: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    sums = x.new_zeros(2, 3).scatter_add(0, group[:, None].expand(10, 3), x)
    return sums[group] * 1.5
