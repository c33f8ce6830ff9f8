"""
A full backward pre-hook registered after the first compiled call never runs.

Why: the compiled function is not guarded on the hook dictionaries of the modules it calls, so a hook that is added
later changes nothing until something else makes Dynamo trace again.
What to do: register hooks before the first compiled call, or set torch._dynamo.config.skip_nnmodule_hook_guards to
False before compiling.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="eager",
    culprit="guards/hooks",
    devices=("cpu", "cuda"),
    ops=("nn.Module.register_full_backward_pre_hook",),
    affected=(Affected(first_seen="2.9.1"),),
    workaround_config={"torch._dynamo.config.skip_nnmodule_hook_guards": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/117265",
        "https://github.com/pytorch/pytorch/issues/115750",
    ),
    related=("gh117758",),
)


def make(device: str) -> torch.nn.Module:
    layer = torch.nn.Linear(2, 2, bias=False, device=device)
    torch.nn.init.eye_(layer.weight)
    return torch.nn.Sequential(layer, torch.nn.Tanh())


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([0.5, -0.25], device=device, requires_grad=True),)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> dict[str, torch.Tensor | None]:
    f(x).sum().backward()
    x.grad = None
    f.get_submodule("0").register_full_backward_pre_hook(lambda module, grads: (grads[0] * 4.0,))
    f(x).sum().backward()
    return {"grad": x.grad}
