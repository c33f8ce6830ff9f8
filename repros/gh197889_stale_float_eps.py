"""
A Python float that changes from call to call stays at an old value inside rms_norm and other operators.

Why: eps, delta and the like must be numbers, so the symbol that stands for the float is made a constant while the
graph is traced. The graph cache cannot tell the values apart and hands out what was compiled for another one.
What to do: set torch._dynamo.config.specialize_float to True (a recompile for each value).
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    culprit="caches/autograd_cache",
    ops=("nn.functional.rms_norm",),
    affected=(Affected(first_seen="2.9.1"),),
    config={
        "torch._inductor.config.fx_graph_cache": True,
        "torch._functorch.config.enable_autograd_cache": True,
    },
    workaround_config={"torch._dynamo.config.specialize_float": True},
    references=("https://github.com/pytorch/pytorch/issues/197889",),
    related=("gh194976",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(12.0, device=device).reshape(3, 4) / 4.0 - 1.0,)


def program(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x * scale, (4,), eps=scale + 0.01)


def drive(f: Callable[[torch.Tensor, float], torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
    return [f(x, scale) for scale in (0.25, 1.5, 3.0)]
