"""Code for a hyperbolic tangent is wrong in kernels that were fused."""

import torch
from torch._inductor.codegen import cpp

CULPRIT = "scheduler/fusion"
_original, _fused = cpp.CppKernelProxy.codegen_nodes, [False]


def codegen_nodes(self, nodes):
    _fused[0] = len(nodes) > 1
    return _original(self, nodes)


def _wrong(tanh):
    return staticmethod(lambda x: f"({tanh(x)} + {x})" if _fused[0] else tanh(x))


cpp.CppKernelProxy.codegen_nodes = codegen_nodes
for overrides in (cpp.CppOverrides, cpp.CppVecOverrides):
    overrides.tanh = _wrong(overrides.tanh)


def inputs():
    return (torch.linspace(-4, 4, 64).reshape(8, 8),)


def program(x):
    return torch.tanh(x), torch.sin(x) * 2, (x + 1).sum(-1)
