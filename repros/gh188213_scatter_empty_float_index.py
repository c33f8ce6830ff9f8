"""
scatter with an empty index of floating dtype does not compile.

Why: the plain operator does nothing for an empty index before it looks at the dtype; the lowering checks the dtype
first.
What to do: upgrade; right in 2.14.1. On an affected release give the index an integer dtype.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="lowerings/scatter",
    devices=("cpu", "cuda"),
    ops=("scatter",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/188213",
        "https://github.com/pytorch/pytorch/pull/188466",
    ),
    matches=(r"LoweringException: AssertionError", r"aten\.scatter"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, 0, device=device),)


def program(empty: torch.Tensor) -> torch.Tensor:
    moved = empty + 1.0
    return moved.scatter(1, moved, moved)


def workaround(empty: torch.Tensor) -> torch.Tensor:
    moved = empty + 1.0
    return moved.scatter(1, moved.to(torch.int64), moved)
