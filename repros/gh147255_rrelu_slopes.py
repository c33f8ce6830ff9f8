"""
rrelu in training draws other slopes than plain code, although fallback_random is on.

Why: the decomposition draws one number for every element, plain code only for those that are not positive.
What to do: upgrade; right in 2.13.0.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/rrelu_with_noise",
    devices=("cpu",),
    ops=("nn.functional.rrelu",),
    config={"torch._inductor.config.fallback_random": True},
    affected=(Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0"),),
    references=("https://github.com/pytorch/pytorch/issues/147255",),
    related=("gh142853",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([1.0, -1.0, 2.0, -2.0, -3.0, 3.0], device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rrelu(x, 0.1, 0.9, training=True)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(4)
    return f(x)
