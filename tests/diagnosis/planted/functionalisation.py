"""An in-place multiplication is functionalised with another number."""

import torch
from torch._subclasses.functional_tensor import FunctionalTensorMode

CULPRIT = "functionalization/mul"
_original = FunctionalTensorMode.__torch_dispatch__


def dispatch(self, func, types, args=(), kwargs=None):
    if func is torch.ops.aten.mul_.Tensor and not isinstance(args[1], torch.Tensor):
        args = (args[0], args[1] + 1)
    return _original(self, func, types, args, kwargs)


FunctionalTensorMode.__torch_dispatch__ = dispatch


def inputs():
    return (torch.linspace(-4, 4, 16),)


def program(x):
    y = torch.sin(x)
    y.mul_(2)
    return y.cos()
