"""
A forward hook registered after the first compiled call never runs.

Why: to save time on each call Dynamo leaves out the guards on hook dictionaries by default, so the graph traced without
the hook is used again. The report was closed as fixed in 2024; with default settings the defect remains.
What to do: register hooks before the first compiled call, or set torch._dynamo.config.skip_nnmodule_hook_guards to
False before compiling.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="eager",
    culprit="guards/hooks",
    devices=("cpu", "cuda"),
    ops=("nn.Module.register_forward_hook",),
    affected=(Affected(first_seen="2.6.0"),),
    workaround_config={"torch._dynamo.config.skip_nnmodule_hook_guards": False},
    references=(
        "https://github.com/pytorch/pytorch/issues/117758",
        "https://github.com/pytorch/pytorch/pull/98371",
        "https://github.com/pytorch/pytorch/pull/138942",
    ),
    related=("gh117265",),
)


def make(device: str) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten())


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(6.0, device=device).reshape(2, 1, 3) - 2.0,)


def drive(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    f(x)
    f.get_submodule("0").register_forward_hook(lambda module, args, output: output + 100.0)
    return f(x)
