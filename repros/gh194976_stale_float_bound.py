"""
A Python float that changes from call to call keeps an old value as the bound of clamp.

Why: from the second value on the float is a symbol. Where an operator needs a number the traced graph gets the current
one, but neither the guard nor the key of the graph cache tells the values apart, so the next value finds a stale entry.
What to do: set torch._dynamo.config.specialize_float to True (a recompile for each value), or pass the bound as a
tensor; right again in 2.15.0.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="caches/autograd_cache",
    ops=("clamp",),
    affected=(Affected(first_seen="2.8.0", last_seen="2.14.1", fixed="2.15.0"),),
    config={
        "torch._inductor.config.fx_graph_cache": True,
        "torch._functorch.config.enable_autograd_cache": True,
    },
    workaround_config={"torch._dynamo.config.specialize_float": True},
    references=(
        "https://github.com/pytorch/pytorch/issues/194976",
        "https://github.com/pytorch/pytorch/pull/195040",
    ),
    related=("gh197889",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([[4.0, 3.0, -6.0, 5.0]], device=device, requires_grad=True),)


def program(x: torch.Tensor, bound: float) -> torch.Tensor:
    return x.clamp(min=-bound, max=bound)


def drive(f: Callable[[torch.Tensor, float], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    results = []
    for bound in (0.5, 0.75, 1.5):
        results.append(f(x, bound))
        results[-1].sum().backward()
    return results
