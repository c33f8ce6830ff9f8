"""What is written into a buffer that is used again comes out negative."""

import torch
from torch._inductor.codegen import common, cpp

CULPRIT = "scheduler/inplace_buffers"
_original, _in_place = common.KernelArgs.make_inplace, [False]


def make_inplace(self, *args):
    _in_place[0] = True
    return _original(self, *args)


def _wrong(tanh):
    return staticmethod(lambda x: f"(-{tanh(x)})" if _in_place[0] else tanh(x))


common.KernelArgs.make_inplace = make_inplace
for overrides in (cpp.CppOverrides, cpp.CppVecOverrides):
    overrides.tanh = _wrong(overrides.tanh)


def inputs():
    return (torch.linspace(-4, 4, 64).reshape(8, 8),)


def program(x):
    return torch.tanh(x @ x)
