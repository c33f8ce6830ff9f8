"""
Combining kernels fails to compile where a reduction runs over a dynamic size.

Why: the combined kernel asks each persistent reduction for a static size, although a bound would do.
What to do: torch._inductor.config.combo_kernels=False for that function, or torch 2.14.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="inductor",
    culprit="codegen/combo_kernels",
    devices=("cuda",),
    ops=("sum",),
    affected=(Affected(first_seen="2.6.0", last_seen="2.13.0", fixed="2.14.1"),),
    config={"torch._inductor.config.combo_kernels": True},
    workaround_config={"torch._inductor.config.combo_kernels": False},
    matches=(r"Dynamic shape on reduction dimension is not supported",),
    references=(
        "https://github.com/pytorch/pytorch/issues/187269",
        "https://github.com/pytorch/pytorch/pull/187275",
    ),
)


def inputs(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(8, 24, device=device), torch.ones(12, 24, device=device)


def program(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (a * 3).sum(1), (b - 2).sum(1)


def drive(f: Callable[..., object], a: torch.Tensor, b: torch.Tensor) -> object:
    for x in (a, b):
        torch._dynamo.mark_dynamic(x, 1, min=2, max=256)
    return f(a, b)
