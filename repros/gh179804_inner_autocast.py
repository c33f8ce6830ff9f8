"""
The backward pass of a region with autocast switched off runs in low precision when autocast was on around the call.

Why: the backward graph is traced during the forward call, under the autocast state that holds around the compiled
function, so its matrix products are cast although the forward ones are not.
What to do: set torch._functorch.config.backward_pass_autocast to "off".
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="aot_eager",
    culprit="aot_autograd/backward_pass_autocast",
    devices=("cpu", "cuda"),
    ops=("amp.autocast", "matmul"),
    affected=(Affected(first_seen="2.6.0"),),
    workaround_config={"torch._functorch.config.backward_pass_autocast": "off"},
    references=("https://github.com/pytorch/pytorch/issues/179804",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    weight = torch.eye(4, device=device).requires_grad_()
    return torch.ones(2, 4, device=device), weight


def program(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    with torch.amp.autocast(x.device.type, enabled=False):
        return x @ weight


def drive(f: Callable[..., torch.Tensor], x: torch.Tensor, weight: torch.Tensor) -> dict[str, torch.Tensor | None]:
    with torch.amp.autocast(x.device.type, dtype=torch.float16):
        y = f(x, weight)
    (y * 100_000.0).sum().backward()
    return {"grad": weight.grad}
