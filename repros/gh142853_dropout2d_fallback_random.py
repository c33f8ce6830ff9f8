"""
dropout2d draws another mask than plain code, although fallback_random is on.

Why: its mask comes from bernoulli_ on an empty tensor, which a decomposition turned into a comparison with uniform
numbers.
What to do: upgrade; right in 2.9.1.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager_decomp_partition",
    culprit="decomposition/bernoulli_",
    devices=("cpu",),
    ops=("nn.functional.dropout2d", "Tensor.bernoulli_"),
    config={"torch._inductor.config.fallback_random": True},
    affected=(Affected(first_seen="2.6.0", last_seen="2.6.0", fixed="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/142853",),
    related=("gh181136",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.ones(4, 6, 3, 3, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.dropout2d(x, 0.5, True)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(4)
    return f(x)
