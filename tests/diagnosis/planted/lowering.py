"""An arc tangent is lowered as a hyperbolic tangent."""

import torch
from torch._inductor.lowering import lowerings

CULPRIT = "lowerings/atan"
lowerings[torch.ops.aten.atan.default] = lambda x: lowerings[torch.ops.aten.tanh.default](x)


def inputs():
    return (torch.linspace(-4, 4, 32),)


def program(x):
    y = torch.sin(x)
    z = torch.atan(y)
    return torch.cos(z)
