"""The C++ that is written for an arc tangent is that of a hyperbolic one."""

import torch
from torch._inductor.codegen import cpp

CULPRIT = "codegen/atan"
cpp.CppVecOverrides.atan = staticmethod(lambda x: f"{x}.tanh()")


def inputs():
    return (torch.linspace(-4, 4, 64),)


def program(x):
    y = torch.sin(x) * 2
    return torch.atan(y) + 1
