"""
A custom op on a dtype view followed by diagonal_scatter returns the input itself.

Why: neither the op on the view nor the scatter gets a buffer of its own, and the copy back is dropped; what the plain
program returns as a new tensor is the caller's tensor here.
What to do: keep view(dtype) inside the op, and let torch.where build the result in place of the scatter. On 2.6.0 and
2.9.1 that does not help: take the backend aot_eager.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_ALIAS,
    stage="inductor",
    culprit="post_grad_passes/reinplace_inplaceable_ops",
    ops=("diagonal_scatter", "Tensor.view", "library.custom_op"),
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.11.0"), Affected(first_seen="2.13.0")),
    references=("https://github.com/pytorch/pytorch/issues/197408",),
    related=("gh195451",),
)


@torch.library.custom_op("compilefix_gh197408::negate_", mutates_args=("values",))
def negate_(values: torch.Tensor) -> None:
    values.neg_()


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(1.0, 17.0, device=device).view(torch.int32).reshape(4, 4).clone(),)


def program(words: torch.Tensor) -> torch.Tensor:
    negate_(words.view(torch.float32))
    cleared = torch.diagonal_scatter(words, torch.zeros(4, dtype=torch.int32, device=words.device))
    words.copy_(cleared)
    return cleared


def workaround(words: torch.Tensor) -> torch.Tensor:
    negate_(words.view(torch.float32))
    diagonal = torch.eye(4, dtype=torch.bool, device=words.device)
    cleared = torch.where(diagonal, torch.zeros_like(words), words)
    words.copy_(cleared)
    return cleared
