"""
A full backward hook that is registered after the first compiled call never runs.

Why: by default Dynamo puts no guards on the hook dictionaries of modules, so a compiled call does not see that one has
been filled since.
What to do: register hooks before the first call, or set torch._dynamo.config.skip_nnmodule_hook_guards to False.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="eager",
    culprit="guards/hooks",
    devices=("cpu", "cuda"),
    ops=("nn.Module.register_full_backward_hook",),
    affected=(Affected(first_seen="2.6.0"),),
    workaround_config={"torch._dynamo.config.skip_nnmodule_hook_guards": False},
    references=("https://github.com/pytorch/pytorch/issues/115750",),
    related=("gh117265", "gh117758"),
)


def halve(
    module: torch.nn.Module, inwards: tuple[torch.Tensor, ...], outwards: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, ...]:
    return tuple(gradient * 0.5 for gradient in inwards)


def make(device: str) -> torch.nn.Module:
    layer = torch.nn.Linear(2, 2, bias=False, device=device)
    torch.nn.init.eye_(layer.weight)
    return torch.nn.Sequential(layer, torch.nn.Tanh())


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.tensor([0.5, -0.25], device=device, requires_grad=True),)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> dict[str, torch.Tensor | None]:
    f(x).sum().backward()
    x.grad = None
    f.get_submodule("0").register_full_backward_hook(halve)  # type: ignore[attr-defined]
    f(x).sum().backward()
    return {"grad": x.grad}
