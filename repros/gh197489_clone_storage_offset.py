"""
A custom op that looks at storage_offset() gets the view and not its clone.

Why: the clone of a slice starts at offset 0, its source does not. The pass that removes no-op clones compares sizes
and strides only, so the op sees the offset of the slice.
What to do: do not let an op depend on the offset; where it must, copy with index_select instead of slice and clone.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    ops=("clone", "library.custom_op"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/197489",),
)


@torch.library.custom_op("compilefix_gh197489::start", mutates_args=())
def start(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(x.storage_offset(), device=x.device)


@start.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty((), dtype=torch.int64, device=x.device)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(9, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return start(x[4:].clone())


def workaround(x: torch.Tensor) -> torch.Tensor:
    return start(x.index_select(0, torch.arange(4, x.shape[0], device=x.device)))
