"""
The graph cache hands out code compiled for separate inputs to a call with overlapping ones.

Why: the key of the cache describes each input by itself and not which inputs share memory, so after a reset, or in
another process, the code that assumes separate inputs is found again.
What to do: set torch._inductor.config.force_disable_caches to True where inputs may overlap.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="caches/autograd_cache",
    affected=(Affected(first_seen="2.9.1"),),
    config={
        "torch._inductor.config.fx_graph_cache": True,
        "torch._functorch.config.enable_autograd_cache": True,
    },
    workaround_config={"torch._inductor.config.force_disable_caches": True},
    references=("https://github.com/pytorch/pytorch/pull/184694",),
    related=("gh139789",),
)

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.full((6,), 2.0, device=device), torch.ones(6, device=device), torch.arange(10.0, device=device)


def program(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    left.mul_(-4.0)
    return left + right


def drive(f: Function, a: torch.Tensor, b: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    f(a, b)
    torch._dynamo.reset()
    return f(base[:6], base[2:8])
