"""
A padded copy with zero padding changes when the original is written afterwards.

Why: padding by nothing is removed as a no-op although the plain program makes a copy there; the later in-place write
into the source is then seen by what reads the copy.
What to do: upgrade; right again in 2.13.0. On an affected release do the write outside the compiled function.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    ops=("nn.functional.pad", "sort"),
    affected=(Affected(first_seen="2.9.1", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/177631",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([[6.0, 2.0, 4.0], [5.0, 1.0, 3.0]], device=device),)


def program(scores: torch.Tensor) -> torch.Tensor:
    kept = torch.nn.functional.pad(scores, (0, 0))
    scores[0] = 9.0
    return torch.sort(kept).values
