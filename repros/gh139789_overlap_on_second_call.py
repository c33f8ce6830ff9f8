"""
Code compiled for separate inputs is used again for inputs that share memory.

Why: the function writes into its first argument. AOTAutograd assumes that the other one does not see the write, and
no guard checks this on the next call, so overlapping views run the code for separate tensors.
What to do: call torch._dynamo.reset() before the inputs begin to overlap, with the graph caches off
(torch._inductor.config.force_disable_caches): their key has the same gap.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="aot_eager",
    culprit="guards/aliasing",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.9.1"),),
    references=("https://github.com/pytorch/pytorch/issues/139789",),
    related=("local-alias-cache-key",),
)

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return torch.full((5,), 2.0, device=device), torch.ones(5, device=device), torch.arange(9.0, device=device)


def program(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    left.mul_(10.0)
    return left - right


def drive(f: Function, a: torch.Tensor, b: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    f(a, b)
    return f(base[:5], base[3:8])


def drive_workaround(f: Function, a: torch.Tensor, b: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    f(a, b)
    torch._dynamo.reset()
    return f(base[:5], base[3:8])
