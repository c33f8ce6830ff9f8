"""
A copy of one argument into another gets values that the source takes on only later.

Why: remove_noop_ops replaces the full slice of the source by the source itself, and the copy at the graph's end then
reads it after it has been changed in place.
What to do: upgrade; right in 2.15.0. On an affected release write dst.copy_(src), without slices.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    devices=("cpu", "cuda"),
    ops=("Tensor.__setitem__", "slice"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=("https://github.com/pytorch/pytorch/issues/198131",),
    related=("gh177631", "gh197489"),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.zeros(3, 4, device=device), torch.arange(12.0, device=device).reshape(3, 4)


def program(dst: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    dst[0:, :] = src[0:, :]
    src.add_(100)
    return src.sum()


def workaround(dst: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    dst.copy_(src)
    src.add_(100)
    return src.sum()
