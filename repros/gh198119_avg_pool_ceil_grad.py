"""
The gradient of average pooling with ceil_mode divides the last window by the full kernel size.

Why: the backward lowering uses the kernel's size as divisor for every window, also for those that overhang the padded
input, where forward and eager count only the elements inside.
What to do: pad the input so that the windows fit, and leave ceil_mode off.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="inductor",
    culprit="lowerings/avg_pool2d_backward",
    devices=("cpu", "cuda"),
    ops=("nn.functional.avg_pool2d", "nn.functional.avg_pool1d"),
    affected=(Affected(first_seen="2.6.0"),),
    references=("https://github.com/pytorch/pytorch/issues/198119",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(5.0, device=device).reshape(1, 1, 5).requires_grad_(),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.avg_pool1d(x, kernel_size=4, stride=3, ceil_mode=True)


def workaround(x: torch.Tensor) -> torch.Tensor:
    total = torch.nn.functional.avg_pool1d(torch.nn.functional.pad(x, (0, 2)), kernel_size=4, stride=3) * 4.0
    return total / torch.tensor([4.0, 2.0], device=x.device)
