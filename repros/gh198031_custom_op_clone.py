"""
A custom op that gets a clone of the tensor it writes is called with the same tensor twice.

Why: the clone is removed as a no-op and the op is then put in place, so it reads what it has already overwritten.
What to do: write the op so that it returns a new tensor and copy_ that back, or clone inside the op; right again in
2.15.0.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="post_grad_passes/remove_noop_ops",
    ops=("clone", "library.custom_op"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.14.1", fixed="2.15.0"),),
    references=(
        "https://github.com/pytorch/pytorch/issues/198031",
        "https://github.com/pytorch/pytorch/pull/198260",
    ),
    related=("gh197829", "contract-clone-protects-input"),
)


@torch.library.custom_op("compilefix_gh198031::neighbours_into", mutates_args=("target",))
def neighbours_into(source: torch.Tensor, target: torch.Tensor) -> None:
    for i in range(source.shape[0]):
        target[i] = source[i - 1] + source[i]


@torch.library.custom_op("compilefix_gh198031::neighbours", mutates_args=())
def neighbours(source: torch.Tensor) -> torch.Tensor:
    return source + source.roll(1)


@neighbours.register_fake
def _(source: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(source)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, 10.0, 100.0, 1000.0, 10000.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    before = x.clone()
    neighbours_into(before, x)
    return -x


def workaround(x: torch.Tensor) -> torch.Tensor:
    x.copy_(neighbours(x))
    return -x
