"""
Convolution, max pooling and a choice between the two get wrong gradients for input, weight and bias.

Why: in the backward graph the two choices are fused with what surrounds them in the layout of the convolution; right
with max_fusion_size=1, and right with layout_optimization=False. The forward result is right, and an interpolation in
front, as in the report, does not matter.
What to do: upgrade; right again in 2.14.1. On an affected release put graph breaks around the pooling.
"""

import torch
from torch.nn import functional

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_GRADIENT,
    stage="inductor",
    culprit="scheduler/fusion",
    devices=("cpu",),
    ops=("nn.functional.conv2d", "nn.functional.max_pool2d"),
    affected=(Affected(first_seen="2.13.0", last_seen="2.13.0", fixed="2.14.1"),),
    references=("https://github.com/pytorch/pytorch/issues/185509",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    shapes = ((1, 2, 6, 7), (3, 2, 3, 3), (3,))
    return tuple(torch.randn(shape, device=device, requires_grad=True) for shape in shapes)


def program(image: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    features = functional.conv2d(image, weight, bias, padding=1)
    pooled = functional.max_pool2d(features, kernel_size=3, stride=1, padding=1)
    return torch.where(features > 0, features, pooled)


def workaround(image: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    features = functional.conv2d(image, weight, bias, padding=1)
    torch._dynamo.graph_break()
    pooled = functional.max_pool2d(features, kernel_size=3, stride=1, padding=1)
    torch._dynamo.graph_break()
    return torch.where(features > 0, features, pooled)
